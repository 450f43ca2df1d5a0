/** The engine, compressed with gzip, in base64. */
declare module "virtual:engine" {
  const packed: string;
  export default packed;
}
