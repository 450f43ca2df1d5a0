/** Canvases, sharp on any screen. */

/** Pixels of the screen per CSS pixel. */
export function pixelRatio(): number {
  return window.devicePixelRatio || 1;
}

/** The canvas's context, cleared, in CSS pixels; the canvas then has `width` x `height` of them. */
export function cleared(
  canvas: HTMLCanvasElement | null,
  width: number,
  height: number,
  ratio = pixelRatio(),
): CanvasRenderingContext2D | null {
  const context = canvas?.getContext("2d");
  if (!canvas || !context) return null;
  const [wide, tall] = [Math.round(width * ratio), Math.round(height * ratio)];
  // Setting a size, even the same one, gives the canvas new memory.
  if (canvas.width !== wide || canvas.height !== tall) [canvas.width, canvas.height] = [wide, tall];
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}
