// A server as a Backend.
import * as http from "node:http"
import {
  type Backend,
  type Change,
  type Checkpoint,
  type Hunk,
  isKind,
  type Message,
  type Operation,
  type Page,
  type Result,
  type Session,
  type Standing,
  type Way,
} from "./api.ts"
import { type Address, bytes, open } from "./http.ts"
import { inQuery } from "./pathtext.ts"

interface ProjectInfo {
  id: string
  root: string
  disabled?: string
  watching?: { on: boolean }
}

// protocol is the version of the socket that this file speaks.
const protocol = 1

// Server is a server that answers.
export class Server {
  private readonly agent = new http.Agent({ keepAlive: true, maxSockets: 4 })

  private constructor(readonly address: Address) {}

  // connect asks who answers. A server of another protocol is as good as none.
  static async connect(address: Address): Promise<Server> {
    const server = new Server(address)
    const about = await server.json<{ protocol: number }>("GET", "/about")
    if (about.protocol === protocol) return server
    server.close()
    throw new Error(`the server speaks version ${about.protocol} of the protocol, the extension version ${protocol}`)
  }

  async json<T>(method: string, target: string, body?: unknown): Promise<T> {
    return JSON.parse((await this.bytes(method, target, body)).toString()) as T
  }

  async bytes(method: string, target: string, body?: unknown): Promise<Buffer> {
    return bytes(await open(this.address, { method, target, body, agent: this.agent }))
  }

  // register makes a directory known, and returns the root around it.
  register(directory: string): Promise<ProjectInfo> {
    return this.json("POST", "/projects", { directory })
  }

  async backend(directory: string): Promise<Backend> {
    return new ServerBackend(this, directory, await this.register(directory))
  }

  close(): void {
    this.agent.destroy()
  }
}

// query is the part of a URL behind the "?", without what is undefined.
function query(values: Record<string, string | number | boolean | undefined>): string {
  const parts = Object.entries(values).filter(([, v]) => v !== undefined && v !== "")
  return parts.length ? "?" + parts.map(([k, v]) => `${k}=${encodeURIComponent(v as string)}`).join("&") : ""
}

class ServerBackend implements Backend {
  readonly kind = "server"

  constructor(
    private readonly server: Server,
    private readonly directory: string,
    private info: ProjectInfo,
  ) {}

  get root(): string {
    return this.info.root
  }

  // at calls f with the prefix of the project. A server that has forgotten the project is
  // told of it again.
  private async at<T>(f: (prefix: string) => Promise<T>): Promise<T> {
    try {
      return await f(`/project/${this.info.id}`)
    } catch (err) {
      if (!isKind(err, "unregistered")) throw err
      this.info = await this.server.register(this.directory)
      return f(`/project/${this.info.id}`)
    }
  }

  private json<T>(method: string, target: string, body?: unknown): Promise<T> {
    return this.at((prefix) => this.server.json<T>(method, prefix + target, body))
  }

  async standing(): Promise<Standing> {
    this.info = await this.server.register(this.directory)
    const standing: Standing = { disabled: this.info.disabled, watching: this.info.watching?.on }
    try {
      standing.newest = (await this.json<Page>("GET", "/checkpoints?limit=1")).checkpoints[0]
    } catch (err) {
      if (isKind(err, "disabled")) standing.disabled ??= (err as Error).message
      else if (!isKind(err, "not-found")) throw err
    }
    return standing
  }

  async sessions(): Promise<Session[]> {
    return orNone(this.json<Session[]>("GET", "/sessions"), [])
  }

  history(session: string): Promise<Message[]> {
    return this.json("GET", `/session/${encodeURIComponent(session)}/history`)
  }

  log(path: string | undefined, limit: number, after?: string): Promise<Page> {
    const selected = path === undefined ? "" : `&path=${inQuery(path)}`
    return orNone(this.json<Page>("GET", `/log${query({ limit, after })}${selected}`), { checkpoints: [] as Checkpoint[] })
  }

  changes(from: string, to: string): Promise<Change[]> {
    return this.json("GET", "/changes" + query({ from, to }))
  }

  async hunks(from: string, to: string, path: string): Promise<Hunk[]> {
    const diff = this.json<{ diffs: { file: string; hunks?: Hunk[] }[] }>(
      "GET",
      `/diff${query({ from, to, hunkIDs: true })}&path=${inQuery(path)}`,
    )
    const { diffs } = await orNone(diff, { diffs: [] }) // of a path that is gone on both sides there is none
    return diffs.find((d) => d.file === path)?.hunks ?? []
  }

  async file(hash: string, path: string): Promise<Uint8Array | undefined> {
    const at = `/checkpoints/${encodeURIComponent(hash)}`
    try {
      return await this.at((prefix) => this.server.bytes("GET", `${prefix}${at}/file?path=${inQuery(path)}`))
    } catch (err) {
      if (!isKind(err, "not-found")) throw err
    }
    // Either the path is not there, or the checkpoint: that one is an error here, too.
    await this.json<{ exists: boolean }>("GET", `${at}/exists?path=${inQuery(path)}`)
    return undefined
  }

  async operations(limit: number): Promise<Operation[]> {
    return (await orNone(this.json<{ operations: Operation[] }>("GET", "/operations" + query({ limit })), { operations: [] })).operations
  }

  plan(way: Way): Promise<Result> {
    return this.goBack(way, {}, "/plan", { dryRun: true })
  }

  carryOut(way: Way, planID: string): Promise<Result> {
    return this.goBack(way, { planID }, "/apply", { planID })
  }

  private async goBack(way: Way, asChange: object, target: string, asTurn: object): Promise<Result> {
    switch (way.action) {
      case "undo-turn":
      case "redo-turn": {
        const verb = way.action === "undo-turn" ? "undo" : "redo"
        const answer = await this.json<{ result?: Result }>("POST", `/session/${encodeURIComponent(way.session)}/${verb}`, asTurn)
        return answer.result ?? { operation: "", restored: [], deleted: [], kept: [], conflicts: [] }
      }
      case "revert":
        return this.json("POST", target, { ...way, to: way.to || undefined, ...asChange })
      default:
        return this.json("POST", target, { ...way, ...asChange })
    }
  }

  track(message: string): Promise<{ hash: string; changed: number }> {
    return this.json("POST", "/track", { message: message || undefined })
  }
}

// orNone returns what stands for nothing where the root has no store yet.
async function orNone<T>(answer: Promise<T>, none: T): Promise<T> {
  try {
    return await answer
  } catch (err) {
    if (isKind(err, "not-found", "disabled")) return none
    throw err
  }
}
