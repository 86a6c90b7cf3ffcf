// Where the server of this user listens. The rules are those of the cairn program
// (cmd/cairn/internal/cli/place.go, internal/protocol): a flag, CAIRN_DATA_DIR, data_dir in the user's
// settings, then the system's directory for data.
import * as fs from "node:fs"
import * as path from "node:path"

export interface Surroundings {
  env: Record<string, string | undefined>
  platform: NodeJS.Platform
  dataDir: string // the extension's setting, "" for none
}

// dataDir returns the directory of all stores, undefined if the surroundings name none.
export function dataDir(s: Surroundings): string | undefined {
  const under = s.platform === "win32" ? path.win32 : path.posix
  const named = s.dataDir || s.env.CAIRN_DATA_DIR || fromSettings(userFile(s))
  if (named) return named
  const data = s.env.XDG_DATA_HOME
  if (data && under.isAbsolute(data)) return under.join(data, "cairn")
  switch (s.platform) {
    case "win32":
      return s.env.LOCALAPPDATA && under.join(s.env.LOCALAPPDATA, "cairn")
    case "darwin":
      return s.env.HOME && under.join(s.env.HOME, "Library", "Application Support", "cairn")
    default:
      return s.env.HOME && under.join(s.env.HOME, ".local", "share", "cairn")
  }
}

// userFile returns the path of the user's settings.
function userFile(s: Surroundings): string | undefined {
  const under = s.platform === "win32" ? path.win32 : path.posix
  let dir = s.env.XDG_CONFIG_HOME
  if (!dir || !under.isAbsolute(dir)) dir = s.platform === "win32" ? s.env.APPDATA : s.env.HOME && under.join(s.env.HOME, ".config")
  return dir && under.isAbsolute(dir) ? under.join(dir, "cairn", "config.toml") : undefined
}

// fromSettings returns data_dir of a TOML file. It reads a top-level string on one line and
// nothing else of TOML.
function fromSettings(file: string | undefined): string | undefined {
  let text
  try {
    text = file && fs.readFileSync(file, "utf8")
  } catch {
    return undefined // no settings
  }
  const top = (text ?? "").split(/^\s*\[/m)[0] ?? ""
  const found = /^\s*data_dir\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)')/m.exec(top)
  if (!found) return undefined
  return found[2] ?? (JSON.parse(`"${found[1]}"`) as string)
}

export function serveDir(dir: string): string {
  return path.join(dir, "serve")
}

export function socketPath(dir: string): string {
  return path.join(serveDir(dir), "sock")
}

// checkOwner throws unless socket and directory belong to this user alone: the process that
// answers there is told paths and prompts.
export function checkOwner(socket: string, uid: number): void {
  for (const [at, isKind] of [
    [path.dirname(socket), (s: fs.Stats) => s.isDirectory()],
    [socket, (s: fs.Stats) => s.isSocket()],
  ] as const) {
    const info = fs.lstatSync(at)
    if (!isKind(info)) throw new Error(`${at} is of another kind`)
    if (info.uid !== uid) throw new Error(`${at} belongs to user ${info.uid}`)
    if (info.mode & 0o077) throw new Error(`${at} is open to others`)
  }
}
