/** Results folders: where their files come from. */
import type { Folder } from "incast-web";

/** A file that can be read when it is needed. */
export interface Source {
  /** Path relative to the folder. */
  readonly path: string;
  readonly bytes: number;
  read(): Promise<ArrayBuffer>;
}

/** A folder that was chosen, dropped or is served. */
export interface Chosen {
  readonly name: string;
  readonly files: readonly Source[];
  /** Its number at the server, if `incast explore` serves it. */
  readonly served?: number;
}

/** What the page reads of a folder: its tables and what says what they are. */
const WANTED = /(^|\/)(manifest\.json|summary\.json|[a-z_]+\.parquet)$|\.(toml|cdf|tra|txt|csv|json|graphml)$/;
/** Input files beside the manifest are read up to this size. */
const INPUT_MOST = 64 << 20;

function wanted(file: Source): boolean {
  if (/(^|\/)figures\//.test(file.path)) return false;
  if (/\.parquet$/.test(file.path)) return /(flows|ports|fairness|trace)\.parquet$/.test(file.path);
  return WANTED.test(file.path) && file.bytes <= INPUT_MOST;
}

/** Reads what the page needs. `without` leaves out tables that a repetition does not need. */
export async function load(chosen: Chosen, without?: RegExp): Promise<Folder> {
  const files = chosen.files.filter((file) => wanted(file) && !without?.test(file.path));
  const contents = await Promise.all(files.map((file) => file.read()));
  return Object.fromEntries(files.map(({ path }, at) => [path, new Uint8Array(contents[at] ?? new ArrayBuffer())]));
}

/** Of an `<input webkitdirectory>`. */
export function ofInput(list: FileList): Chosen[] {
  const files = Array.from(list);
  const name = files[0]?.webkitRelativePath.split("/")[0] ?? "";
  return files.length
    ? [{ name, files: files.map((file) => ofFile(file, file.webkitRelativePath.split("/").slice(1).join("/"))) }]
    : [];
}

function ofFile(file: File, path: string): Source {
  return { path, bytes: file.size, read: () => file.arrayBuffer() };
}

/** Of what was dropped on the page: each folder by itself, and single files together as one folder. */
export async function ofDrop(transfer: DataTransfer): Promise<Chosen[]> {
  const entries = Array.from(transfer.items).flatMap((item) => item.webkitGetAsEntry() ?? []);
  const folders = entries.filter((entry): entry is FileSystemDirectoryEntry => entry.isDirectory);
  const loose = entries.filter((entry): entry is FileSystemFileEntry => entry.isFile);
  const all = await Promise.all(folders.map(async (entry) => ({ name: entry.name, files: await walk(entry, "") })));
  const own = await Promise.all(loose.map(async (entry) => ofFile(await fileOf(entry), entry.name)));
  return own.length ? [...all, { name: "dropped files", files: own }] : all;
}

const fileOf = (entry: FileSystemFileEntry) => new Promise<File>((done, fail) => entry.file(done, fail));

async function walk(folder: FileSystemDirectoryEntry, prefix: string): Promise<Source[]> {
  const reader = folder.createReader();
  const found: Source[] = [];
  for (;;) {
    // A reader gives its entries in parts; the last part is empty.
    const part = await new Promise<FileSystemEntry[]>((done, fail) => reader.readEntries(done, fail));
    if (!part.length) return found;
    for (const entry of part) {
      const path = prefix + entry.name;
      if (entry.isDirectory) found.push(...(await walk(entry as FileSystemDirectoryEntry, `${path}/`)));
      else found.push(ofFile(await fileOf(entry as FileSystemFileEntry), path));
    }
  }
}

/** Whether `incast explore` serves this page. */
export const SERVED = document.querySelector('meta[name="incast-explore"]') !== null;

/** The folders that `incast explore` was given. */
export async function ofServer(): Promise<Chosen[]> {
  const listed = (await (await fetched("folders")).json()) as { name: string; files: { path: string; bytes: number }[] }[];
  return listed.map(({ name, files }, number) => ({
    name,
    served: number,
    files: files.map(({ path, bytes }, file) => ({
      path,
      bytes,
      read: async () => (await fetched(`files/${number}/${file}`)).arrayBuffer(),
    })),
  }));
}

/** Asks the server that the page came from. */
export async function fetched(path: string): Promise<Response> {
  const gone = "the server does not answer: is `incast explore` still running?";
  const response = await fetch(path).catch(() => { throw new Error(gone); });
  if (!response.ok) throw new Error(await response.text());
  return response;
}
