// A project in a directory of its own, with a real cairn: CAIRN_BIN names the program.
import assert from "node:assert/strict"
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as readline from "node:readline"

export const cairn = process.env.CAIRN_BIN ?? assert.fail("CAIRN_BIN names no cairn program to test with")

export class Fixture {
  readonly top = realpathSync(mkdtempSync(join(tmpdir(), "cairn-vscode-")))
  readonly root = join(this.top, "project")
  readonly dataDir = join(this.top, "data")
  readonly env = { PATH: process.env.PATH ?? "", HOME: this.top, CAIRN_DATA_DIR: this.dataDir, CAIRN_NO_BACKGROUND: "1" }
  private readonly servers: ChildProcess[] = []

  constructor() {
    mkdirSync(this.root)
  }

  write(name: string | Buffer, text: string): void {
    writeFileSync(typeof name === "string" ? join(this.root, name) : Buffer.concat([Buffer.from(this.root + "/"), name]), text)
  }

  read(name: string): string {
    return readFileSync(join(this.root, name), "utf8")
  }

  // files returns the names and texts of all files of the root, which has no directories.
  files(): Record<string, string> {
    return Object.fromEntries(
      readdirSync(this.root, "latin1").map((name) => [name, readFileSync(Buffer.from(this.root + "/" + name, "latin1"), "utf8")]),
    )
  }

  remove(name: string): void {
    rmSync(join(this.root, name))
  }

  cairn(...args: string[]): string {
    return execFileSync(cairn, args, { cwd: this.root, env: this.env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })
  }

  // turn records what work does as a turn of a session.
  turn(session: string, message: string, prompt: string, work: () => void): void {
    this.cairn("session", "begin", session, "--title", `title of ${session}`)
    this.cairn("session", "message", session, "--message", message, "--role", "user", "--prompt", prompt)
    this.cairn("session", "step", "begin", session, "--message", message, "--step", `step-${message}`)
    work()
    this.cairn("session", "step", "end", session, "--step", `step-${message}`)
  }

  // serve starts a server and returns once it answers. The function ends it.
  async serve(...args: string[]): Promise<() => Promise<void>> {
    const server = spawn(cairn, ["serve", ...args], { cwd: this.root, env: this.env, stdio: ["ignore", "pipe", "inherit"] })
    this.servers.push(server)
    const lines = readline.createInterface(server.stdout)
    await new Promise<void>((resolve, reject) => {
      lines.once("line", () => resolve())
      server.once("exit", (code) => reject(new Error(`the server ended with status ${code}`)))
    })
    return () => end(server)
  }

  async close(): Promise<void> {
    await Promise.all(this.servers.map(end))
    rmSync(this.top, { recursive: true, force: true })
  }
}

function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => {
    server.once("exit", () => resolve())
    server.kill()
  })
}

export const lines = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]

// text returns the ten lines with some of them replaced.
export function text(changes: Record<number, string> = {}): string {
  return lines.map((l, i) => changes[i + 1] ?? l).join("\n") + "\n"
}

// withTwoTurns makes a project whose agent has changed, added and deleted files in two turns.
export function withTwoTurns(): Fixture {
  const f = new Fixture()
  f.write("a.txt", text())
  f.write("gone.txt", "to be deleted\n")
  f.cairn("track", "-m", "first")
  f.turn("s1", "m1", "make it better\nand faster", () => {
    f.write("a.txt", text({ 1: "ONE", 10: "TEN" }))
    f.write("new.txt", "new\n")
    f.remove("gone.txt")
  })
  f.turn("s1", "m2", "and once more", () => f.write("a.txt", text({ 1: "ONE", 5: "FIVE", 10: "TEN" })))
  return f
}
