// The folders of the workspace and what cairn knows of them.
import * as fs from "node:fs"
import * as path from "node:path"
import * as vscode from "vscode"
import type { Backend } from "./api.ts"
import type { Connection } from "./connection.ts"
import { isPlain } from "./pathtext.ts"
import { backendOf, type Program } from "./program.ts"

// Project is a folder with its root. Several folders may share a root, and a root may lie above
// its folder.
export interface Project {
  folder: vscode.WorkspaceFolder
  real: string // the folder without symlinks, as roots are
  backend: Backend
}

export class Projects {
  private readonly known = new Map<string, { kind: string; project: Promise<Project> }>()

  constructor(
    private readonly connection: Connection,
    private readonly program: () => Program | undefined,
  ) {}

  folders(): vscode.WorkspaceFolder[] {
    return (vscode.workspace.workspaceFolders ?? []).filter((f) => f.uri.scheme === "file")
  }

  // of returns the project of a folder: through the server that answers, else through the
  // program. Without either it fails.
  of(folder: vscode.WorkspaceFolder): Promise<Project> {
    const { server } = this.connection
    const program = server ? undefined : this.program()
    const kind = server ? "server" : program ? `program ${program.path} ${program.dataDir}` : "none"
    const key = folder.uri.toString()
    const known = this.known.get(key)
    if (known?.kind === kind) return known.project
    const project = this.make(folder, program)
    this.known.set(key, { kind, project })
    project.catch(() => this.known.delete(key)) // the next question tries again
    return project
  }

  private async make(folder: vscode.WorkspaceFolder, program: Program | undefined): Promise<Project> {
    const real = fs.realpathSync(folder.uri.fsPath)
    const { server } = this.connection
    if (server) return { folder, real, backend: await server.backend(real) }
    if (program) return { folder, real, backend: await backendOf(program, real) }
    throw new Error("no server runs, and no program is started in a workspace that is not trusted")
  }

  // all returns one project for each root, in the order of the folders. Folders that cairn cannot
  // look after are left out, unless there is no other.
  async all(): Promise<Project[]> {
    const roots = new Map<string, Project>()
    const answers = await Promise.allSettled(this.folders().map((f) => this.of(f)))
    for (const a of answers) {
      if (a.status === "fulfilled" && !roots.has(a.value.backend.root)) roots.set(a.value.backend.root, a.value)
    }
    const failed = answers.find((a) => a.status === "rejected")
    if (roots.size === 0 && failed) throw failed.reason
    return [...roots.values()]
  }

  // at returns the project and the path of a file, undefined for a file that is in no folder.
  async at(uri: vscode.Uri): Promise<{ project: Project; path: string } | undefined> {
    const folder = uri.scheme === "file" ? vscode.workspace.getWorkspaceFolder(uri) : undefined
    if (!folder) return undefined
    const project = await this.of(folder)
    const file = path.join(project.real, path.relative(folder.uri.fsPath, uri.fsPath))
    return { project, path: path.relative(project.backend.root, file).split(path.sep).join("/") }
  }

  forget(): void {
    this.known.clear()
  }
}

// onDisk returns the URI of a path, undefined where the name is not UTF-8: the editor cannot open
// such a file.
export function onDisk(project: Project, relative: string): vscode.Uri | undefined {
  if (!isPlain(relative) || !isPlain(project.backend.root)) return undefined
  if (path.isAbsolute(relative)) return vscode.Uri.file(relative) // of another directory of a session
  const file = path.join(project.backend.root, ...relative.split("/"))
  const inside = path.relative(project.real, file)
  // The folder may be named by a symlink; the editor knows the file by that name.
  if (inside !== ".." && !inside.startsWith(".." + path.sep) && !path.isAbsolute(inside))
    return vscode.Uri.joinPath(project.folder.uri, ...inside.split(path.sep))
  return vscode.Uri.file(file)
}
