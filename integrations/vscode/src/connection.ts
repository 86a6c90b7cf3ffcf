// The one connection of the extension to a server: found at the start, found again when a
// server begins, without polling.
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as readline from "node:readline"
import { type Event, Problem } from "./api.ts"
import { EventStream } from "./events.ts"
import type { Address } from "./http.ts"
import { checkOwner, dataDir, serveDir, socketPath, type Surroundings } from "./place.ts"
import { type Program, run } from "./program.ts"
import { Server } from "./server.ts"

export interface Hooks {
  changed(): void // a server came or went
  event(event: Event): void
  log(text: string): void
}

export class Connection {
  server: Server | undefined
  private stream: EventStream | undefined
  private watcher: fs.FSWatcher | undefined
  private connecting: Promise<void> | undefined
  private disposed = false

  constructor(
    private readonly surroundings: () => Surroundings,
    private readonly program: () => Program | undefined, // undefined where none may be started
    private readonly hooks: Hooks,
  ) {}

  // connect looks for a server once. It does nothing while one answers.
  connect(): Promise<void> {
    if (this.server || this.disposed) return Promise.resolve()
    return (this.connecting ??= this.tryOnce().finally(() => (this.connecting = undefined)))
  }

  private async tryOnce(): Promise<void> {
    this.watch() // before the look, so that no server begins in between
    try {
      const address = await this.address()
      if (!address) return
      const server = await Server.connect(address)
      const stream = new EventStream(
        (e) => this.hooks.event(e),
        () => this.lost(),
      )
      await stream.listen(address).catch((err) => {
        server.close()
        throw err
      })
      if (this.disposed) return void (stream.close(), server.close())
      this.server = server
      this.stream = stream
    } catch (err) {
      return this.hooks.log(`no server: ${(err as Error).message}`)
    }
    this.unwatch()
    this.hooks.log("connected to a server")
    this.hooks.changed()
  }

  private async address(): Promise<Address | undefined> {
    const s = this.surroundings()
    const dir = dataDir(s)
    if (!dir) return undefined
    if (s.platform === "win32") return this.addressOverTCP(dir)
    const socket = socketPath(dir)
    if (!fs.existsSync(socket)) return undefined
    checkOwner(socket, os.userInfo().uid)
    return { socketPath: socket }
  }

  // addressOverTCP is for Windows, where Node opens no Unix socket: the program knows the
  // address, and the data directory, which is closed to others, holds the token.
  private async addressOverTCP(dir: string): Promise<Address | undefined> {
    const program = this.program()
    const file = path.join(serveDir(dir), "token")
    if (!program || !fs.existsSync(file)) return undefined
    const out = await run(program, os.homedir(), ["serve", "--login"])
    const link = /https?:\/\/\S+/.exec(out.stdout.toString())
    return link ? tcpAddress(link[0], fs.readFileSync(file, "utf8").trim()) : undefined
  }

  // lost is called when the stream of events ends.
  private lost(): void {
    this.stream?.close()
    this.server?.close()
    this.stream = this.server = undefined
    if (this.disposed) return
    this.hooks.log("the server has gone")
    this.watch()
    this.hooks.changed()
    void this.connect() // a server that cuts the stream of a slow reader goes on, and no socket appears
  }

  // watch waits for a server's socket to appear, or for the directory in which it will.
  private watch(): void {
    const dir = dataDir(this.surroundings())
    if (this.watcher || this.disposed || !dir) return
    const known = fs.existsSync(serveDir(dir))
    try {
      this.watcher = fs.watch(known ? serveDir(dir) : dir, { persistent: false }, () => this.appeared(dir, known))
      this.watcher.on("error", () => this.unwatch())
    } catch {
      // Neither is there: cairn has never run. A command looks again.
    }
  }

  private appeared(dir: string, known: boolean): void {
    if (!known && fs.existsSync(serveDir(dir))) {
      this.unwatch()
      this.watch()
    }
    if (!fs.existsSync(socketPath(dir))) return
    void Promise.resolve(this.connecting).then(() => this.connect())
  }

  private unwatch(): void {
    this.watcher?.close()
    this.watcher = undefined
  }

  // start starts a server that outlives the editor, and returns its process once it answers. Where
  // one runs already it returns undefined.
  async start(directory: string): Promise<number | undefined> {
    await this.connect()
    const program = this.program()
    if (this.server) return undefined
    if (!program) throw new Problem("no-program", "no program is started in a workspace that is not trusted")
    const pid = await startServer(program, directory, this.surroundings().platform)
    await this.connect()
    if (!this.server) throw new Problem("", "the server was started and does not answer")
    return pid
  }

  dispose(): void {
    this.disposed = true
    this.unwatch()
    this.stream?.close()
    this.server?.close()
    this.stream = this.server = undefined
  }
}

// tcpAddress takes host and port of a login link.
export function tcpAddress(link: string, token: string): Address {
  const url = new URL(link)
  return { host: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port), token }
}

// startServer starts cairn serve and waits for the line in which it names its way in.
function startServer(program: Program, directory: string, platform: NodeJS.Platform): Promise<number | undefined> {
  const args = [
    "--json",
    ...(program.dataDir ? ["--data-dir", program.dataDir] : []),
    "serve",
    ...(platform === "win32" ? ["--listen", "127.0.0.1:0"] : []),
  ]
  return new Promise((resolve, reject) => {
    const complaints = new Complaints()
    const child = spawn(program.path, args, { cwd: directory, detached: true, stdio: ["ignore", "pipe", complaints.fd], windowsHide: true })
    child.on("error", (err) => {
      complaints.read()
      reject(new Problem("no-program", `${program.path} cannot be run: ${err.message}`))
    })
    child.on("exit", () => reject(new Problem("", complaints.read() || "the server ended at once")))
    readline.createInterface(child.stdout!).once("line", () => {
      complaints.read()
      child.unref()
      child.stdout?.destroy() // nothing more comes there
      resolve(child.pid)
    })
  })
}

// Complaints is where a server's stderr goes. A pipe would end the server with its first line
// after the editor has gone.
class Complaints {
  private readonly dir = fs.mkdtempSync(path.join(os.tmpdir(), "cairn-serve-"))
  private text: string | undefined
  readonly fd = fs.openSync(path.join(this.dir, "stderr"), "w")

  // read returns what was said so far and lets go of the file.
  read(): string {
    if (this.text !== undefined) return this.text
    this.text = fs.readFileSync(path.join(this.dir, "stderr"), "utf8").trim()
    fs.closeSync(this.fd)
    try {
      fs.rmSync(this.dir, { recursive: true })
    } catch {
      // Windows keeps a file that a process has open.
    }
    return this.text
  }
}
