// The cairn program as a Backend, one process for each question. It is the way where no server
// runs. Its JSON is that of the server.
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import {
  type Backend,
  type Change,
  type Checkpoint,
  type Hunk,
  isKind,
  type Message,
  type Operation,
  type Page,
  Problem,
  type Result,
  type Session,
  type Standing,
  type Way,
} from "./api.ts"
import { isPlain, unreadable } from "./pathtext.ts"

// maxOutput is the limit on what one call prints, in bytes.
const maxOutput = 64 << 20

// attention is the exit status of an answer in which something was kept or is in conflict.
const attention = 3

export interface Program {
  path: string // of the program
  dataDir: string // "" is for the program to decide
}

interface Output {
  status: number
  stdout: Buffer
  stderr: string
}

// run runs the program in a directory.
export function run(program: Program, directory: string, args: string[]): Promise<Output> {
  const place = program.dataDir ? ["--data-dir", program.dataDir] : []
  return new Promise((resolve, reject) => {
    const child = spawn(program.path, [...place, ...args], { cwd: directory, stdio: ["ignore", "pipe", "pipe"], windowsHide: true })
    const out: Buffer[] = []
    let size = 0
    let stderr = ""
    child.stdout.on("data", (part: Buffer) => {
      size += part.length
      if (size > maxOutput) child.kill()
      else out.push(part)
    })
    child.stderr.setEncoding("utf8").on("data", (part: string) => {
      if (stderr.length < 1 << 20) stderr += part
    })
    child.on("error", (err) => reject(new Problem("no-program", `${program.path} cannot be run: ${err.message}`)))
    child.on("close", (status) => {
      if (size > maxOutput) reject(new Problem("too-large", "the answer is too large for the editor"))
      else resolve({ status: status ?? 1, stdout: Buffer.concat(out), stderr })
    })
  })
}

// problemOf makes an error of the last line that the program printed.
function problemOf(stderr: string): Problem {
  const last = stderr.trimEnd().split("\n").at(-1) ?? ""
  try {
    const { error } = JSON.parse(last) as { error: { code: string; message: string; hint?: string } }
    return new Problem(error.code, error.hint ? `${error.message} (${error.hint})` : error.message)
  } catch {
    return new Problem("", last || "cairn failed")
  }
}

// backendOf finds the root around a directory, and asks the program about it.
export async function backendOf(program: Program, directory: string): Promise<Backend> {
  const asked = new ProgramBackend(program, fs.realpathSync(directory))
  const [store] = await asked.orNone(asked.json<{ root: string }[]>("du", "--here"), [])
  return store ? new ProgramBackend(program, store.root) : asked
}

class ProgramBackend implements Backend {
  readonly kind = "program"

  constructor(
    private readonly program: Program,
    readonly root: string,
  ) {}

  async json<T>(...args: string[]): Promise<T> {
    const out = await run(this.program, this.root, ["--json", ...args])
    if (out.status !== 0 && out.status !== attention) throw problemOf(out.stderr)
    return JSON.parse(out.stdout.toString()) as T
  }

  // orNone returns what stands for nothing where the root has no store yet.
  async orNone<T>(answer: Promise<T>, none: T): Promise<T> {
    try {
      return await answer
    } catch (err) {
      if (isKind(err, "not-found", "disabled")) return none
      throw err
    }
  }

  async standing(): Promise<Standing> {
    const settings = await this.json<{ key: string; value: string; origin: string }[]>("config")
    const off = settings.find((s) => s.key === "enabled" && s.value === "false")
    const list = await this.orNone(this.json<Checkpoint[]>("log", "-n", "1"), [])
    return { newest: list[0], disabled: off && `enabled = false in ${off.origin}` }
  }

  sessions(): Promise<Session[]> {
    return this.orNone(this.json<Session[]>("session", "list"), [])
  }

  async history(session: string): Promise<Message[]> {
    return (await this.json<{ history?: Message[] }>("session", "show", session)).history ?? []
  }

  // log has no way to go on behind a checkpoint, so that it reads from the newest on.
  async log(path: string | undefined, limit: number, after?: string): Promise<Page> {
    const selected = path === undefined ? [] : ["--", argument(path)]
    const count = after === undefined ? ["-n", String(limit + 1)] : []
    const all = await this.orNone(this.json<Checkpoint[]>("log", ...count, ...selected), [])
    const list = after === undefined ? all : all.slice(all.findIndex((c) => c.id === after) + 1)
    const checkpoints = list.slice(0, limit)
    return { checkpoints, next: list.length > limit ? checkpoints.at(-1)?.id : undefined }
  }

  changes(from: string, to: string): Promise<Change[]> {
    return this.json("diff", from, ...(to ? [to] : []), "--name-status")
  }

  async hunks(from: string, to: string, path: string): Promise<Hunk[]> {
    const diff = this.json<{ file: string; hunks?: Hunk[] }[]>("diff", from, ...(to ? [to] : []), "--hunk-ids", "--", argument(path))
    const diffs = await this.orNone(diff, []) // of a path that is gone on both sides there is none
    return diffs.find((d) => d.file === path)?.hunks ?? []
  }

  async file(hash: string, path: string): Promise<Uint8Array | undefined> {
    const out = await run(this.program, this.root, ["cat", hash, argument(path)])
    if (out.status === 0) return out.stdout
    const there = await run(this.program, this.root, ["--json", "exists", hash, argument(path)])
    if (there.stdout.toString().includes('"exists":false')) return undefined
    throw there.status === 0 ? new Problem("", out.stderr.trim()) : problemOf(there.stderr)
  }

  async operations(limit: number): Promise<Operation[]> {
    return (await this.orNone(this.json<Operation[]>("operations"), [])).slice(0, limit)
  }

  plan(way: Way): Promise<Result> {
    return this.goBack(way, "--dry-run")
  }

  carryOut(way: Way, planID: string): Promise<Result> {
    return this.goBack(way, "--plan", planID)
  }

  private async goBack(way: Way, ...how: string[]): Promise<Result> {
    switch (way.action) {
      case "restore":
        return this.json("restore", way.hash, ...how, "--", ...way.paths.map(argument))
      case "revert": {
        const range = way.to ? `${way.from}..${way.to}` : way.from
        return this.json("revert", range, ...how, "--hunk", way.hunks.join(","), "--", ...way.paths.map(argument))
      }
      case "undo":
      case "redo":
        return this.json(way.action, "--operation", ...how)
      default: {
        const verb = way.action === "undo-turn" ? "undo" : "redo"
        return (await this.json<{ result: Result }>("session", verb, way.session, ...how)).result
      }
    }
  }

  async track(message: string): Promise<{ hash: string; changed: number }> {
    return this.json("track", ...(message ? ["-m", message] : []))
  }
}

// argument returns a path as an argument of a process, which Node takes only as text.
function argument(path: string): string {
  if (isPlain(path)) return path
  throw new Problem("", unreadable)
}
