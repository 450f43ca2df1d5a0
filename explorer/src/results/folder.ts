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
const WANTED = /(^|\/)(manifest\.json|summary\.json|[a-z_]+\.parquet)$|(^|\/)inputs\/|\.(toml|cdf|tra|txt|csv|json|graphml)$/;
/** What a page can hold of one file; the engine holds no more. */
export const FILE_MOST = 1 << 30;
/** Input files beside the manifest are read up to this size. */
const INPUT_MOST = 64 << 20;

function wanted(file: Source): boolean {
  if (/(^|\/)figures\//.test(file.path)) return false;
  if (/\.parquet$/.test(file.path)) return /(flows|ports|fairness|trace)\.parquet$/.test(file.path);
  return WANTED.test(file.path) && file.bytes <= INPUT_MOST;
}

/** Reads what the page needs. `without` leaves out tables that a repetition does not need. */
export async function load(chosen: Chosen, without?: RegExp): Promise<Folder> {
  const paths = new Set(chosen.files.map(({ path }) => path));
  // A table in text is a copy of the one beside it, and much larger.
  const copy = (path: string) => /\.csv$/.test(path) && paths.has(path.replace(/csv$/, "parquet"));
  const files = chosen.files.filter((file) => wanted(file) && !copy(file.path) && !without?.test(file.path));
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

/** An item of a drop; the handle is not declared everywhere yet. */
type Dropped = DataTransferItem & { getAsFileSystemHandle?(): Promise<FileSystemHandle | null> };

/** Of what was dropped on the page: each folder by itself, and single files together as one folder. */
export async function ofDrop(transfer: DataTransfer): Promise<Chosen[]> {
  const items = Array.from(transfer.items) as Dropped[];
  // Chromium reads no entries on a page that was opened as a file, but handles; others have no handles.
  const all = items.some((item) => item.getAsFileSystemHandle)
    ? await ofHandles(items.map((item) => item.getAsFileSystemHandle?.()))
    : await ofEntries(items.flatMap((item) => item.webkitGetAsEntry() ?? []));
  if (!all.length) throw new Error("nothing that can be read was dropped: drop a results folder");
  return all;
}

async function ofHandles(given: readonly (Promise<FileSystemHandle | null> | undefined)[]): Promise<Chosen[]> {
  const handles = (await Promise.all(given)).filter((handle) => handle != null);
  const folders = handles.filter((handle): handle is FileSystemDirectoryHandle => handle.kind === "directory");
  const loose = handles.filter((handle): handle is FileSystemFileHandle => handle.kind === "file");
  const all = await Promise.all(folders.map(async (handle) => ({ name: handle.name, files: await within(handle, "") })));
  const own = await Promise.all(loose.map(async (handle) => ofFile(await handle.getFile(), handle.name)));
  return own.length ? [...all, { name: "dropped files", files: own }] : all;
}

async function within(folder: FileSystemDirectoryHandle, prefix: string): Promise<Source[]> {
  const found: Source[] = [];
  for await (const handle of folder.values()) {
    const path = prefix + handle.name;
    if (handle.kind === "directory") found.push(...(await within(handle as FileSystemDirectoryHandle, `${path}/`)));
    else found.push(ofFile(await (handle as FileSystemFileHandle).getFile(), path));
  }
  return found;
}

async function ofEntries(entries: readonly FileSystemEntry[]): Promise<Chosen[]> {
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
