// Files as they were, as a read-only file system: so the editor decodes them, compares pictures and
// highlights them as it does with the file on disk. A content provider would hand it text only.
import * as fs from "node:fs/promises"
import * as path from "node:path"
import * as vscode from "vscode"
import { bytesOf, shown } from "./pathtext.ts"
import type { Project, Projects } from "./projects.ts"
import { onDisk } from "./projects.ts"
import { decodePlace, encodePlace, type Place, scheme } from "./uri.ts"

// held is the number of contents that stay in memory.
const held = 8

export function uriOf(place: Place): vscode.Uri {
  const file = shown(place.root + "/" + place.path).replaceAll("\\", "/")
  return vscode.Uri.from({ scheme, path: file.startsWith("/") ? file : "/" + file, query: encodePlace(place) })
}

// sideOf returns a side of a comparison: a checkpoint, or with "" the file on disk.
export function sideOf(project: Project, hash: string, relative: string): vscode.Uri {
  return (hash === "" && onDisk(project, relative)) || uriOf({ hash, root: project.backend.root, path: relative })
}

export class Files implements vscode.FileSystemProvider {
  private readonly contents = new Map<string, Promise<Uint8Array>>()
  private readonly none = new vscode.EventEmitter<vscode.FileChangeEvent[]>()
  readonly onDidChangeFile = this.none.event // what was does not change

  constructor(private readonly projects: Projects) {}

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    return {
      type: vscode.FileType.File,
      ctime: 0,
      mtime: 0,
      size: (await this.readFile(uri)).length,
      permissions: vscode.FilePermission.Readonly,
    }
  }

  // readFile returns the bytes. A file that the checkpoint lacks is empty: it is one side of a
  // comparison.
  readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const place = decodePlace(uri.query)
    if (place.hash === "") return fs.readFile(Buffer.concat([bytesOf(place.root), Buffer.from(path.sep), bytesOf(place.path)]))
    const found = this.contents.get(uri.query) ?? this.read(place)
    this.contents.delete(uri.query)
    this.contents.set(uri.query, found) // as the one used last
    found.catch(() => this.contents.delete(uri.query))
    for (const key of this.contents.keys()) {
      if (this.contents.size <= held) break
      this.contents.delete(key)
    }
    return found
  }

  private async read(place: Place): Promise<Uint8Array> {
    const project = (await this.projects.all()).find((p) => p.backend.root === place.root)
    if (!project) throw vscode.FileSystemError.Unavailable(`${shown(place.root)} is not open`)
    return (await project.backend.file(place.hash, place.path)) ?? new Uint8Array()
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => {})
  }

  readDirectory(): never {
    throw vscode.FileSystemError.NoPermissions("checkpoints are listed in the cairn view")
  }

  createDirectory(): never {
    throw vscode.FileSystemError.NoPermissions("checkpoints do not change")
  }

  readonly writeFile = this.createDirectory
  readonly delete = this.createDirectory
  readonly rename = this.createDirectory
}
