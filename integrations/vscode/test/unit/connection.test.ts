// The connection finds a server, hears its events, loses it and finds the next one.
import assert from "node:assert/strict"
import { chmodSync, mkdirSync, readFileSync } from "node:fs"
import * as http from "node:http"
import { after, test } from "node:test"
import type { Event } from "../../src/api.ts"
import { Connection, tcpAddress } from "../../src/connection.ts"
import { checkOwner, serveDir, socketPath } from "../../src/place.ts"
import { Server } from "../../src/server.ts"
import { cairn, Fixture, withTwoTurns } from "../fixture.ts"

const fixtures: Fixture[] = []
after(() => Promise.all(fixtures.map((f) => f.close())))

// Heard collects what a connection says, and waits for it.
class Heard {
  readonly events: Event[] = []
  readonly said: string[] = []
  connections = 0
  private wake = () => {}

  readonly hooks = {
    changed: () => void (this.connections++, this.wake()),
    event: (e: Event) => void (this.events.push(e), this.wake()),
    log: (text: string) => void this.said.push(text),
  }

  async until(so: () => boolean): Promise<void> {
    while (!so()) await new Promise<void>((resolve) => (this.wake = resolve))
  }
}

function connect(f: Fixture, heard: Heard): Connection {
  return new Connection(
    () => ({ env: f.env, platform: process.platform, dataDir: "" }),
    () => ({ path: cairn, dataDir: f.dataDir }),
    heard.hooks,
  )
}

test("without a server nothing is connected, and a server that comes is found", async () => {
  const f = withTwoTurns()
  fixtures.push(f)
  const heard = new Heard()
  const connection = connect(f, heard)
  await connection.connect()
  assert.equal(connection.server, undefined)
  const stop = await f.serve() // makes the directory of the socket
  await heard.until(() => connection.server !== undefined)
  f.cairn("track", "-m", "by the server")
  await heard.until(() => heard.events.some((e) => e.type === "track" && e.root === f.root))
  await stop()
  await heard.until(() => connection.server === undefined)
  await f.serve()
  await heard.until(() => connection.server !== undefined)
  connection.dispose()
  assert.equal(connection.server, undefined)
})

test("a server that cuts the stream is connected again", async () => {
  const f = withTwoTurns()
  fixtures.push(f)
  mkdirSync(serveDir(f.dataDir), { mode: 0o700 })
  const streams: http.ServerResponse[] = []
  const server = http.createServer((request, answer) => {
    if (request.url === "/about") return void answer.end('{"protocol":1}')
    streams.push(answer)
    answer.write("event: hello\ndata: {\"type\":\"hello\"}\n\n")
  })
  await new Promise<void>((resolve) => server.listen(socketPath(f.dataDir), resolve))
  chmodSync(socketPath(f.dataDir), 0o600)
  const heard = new Heard()
  const connection = connect(f, heard)
  await connection.connect()
  streams[0]!.destroy()
  await heard.until(() => heard.connections === 3 && connection.server !== undefined) // came, went, came
  connection.dispose()
  server.close()
  server.closeAllConnections()
})

test("a turn is told while it happens", async () => {
  const f = withTwoTurns()
  fixtures.push(f)
  const heard = new Heard()
  await f.serve()
  const connection = connect(f, heard)
  await connection.connect()
  const at = `?directory=${encodeURIComponent(f.root)}`
  const { id } = await connection.server!.json<{ id: string }>("POST", "/session/s1/steps" + at, {
    messageID: "m3",
    role: "user",
    prompt: "a third",
  })
  f.write("b.txt", "b\n")
  await connection.server!.json("POST", `/session/s1/steps/${id}/end${at}`, {})
  await heard.until(() => heard.events.filter((e) => e.type === "step").length === 2)
  connection.dispose()
})

test("a server is started and outlives the connection", async () => {
  const f = withTwoTurns()
  fixtures.push(f)
  const heard = new Heard()
  const connection = connect(f, heard)
  const pid = (await connection.start(f.root))!
  assert.ok(connection.server)
  connection.dispose()
  const again = connect(f, heard)
  await again.connect()
  assert.ok(again.server)
  assert.equal(await again.start(f.root), undefined, "one server is enough")
  process.kill(pid)
  await heard.until(() => again.server === undefined)
  again.dispose()
})

test("a socket that is open to others is not used", async () => {
  const f = withTwoTurns()
  fixtures.push(f)
  await f.serve()
  const socket = socketPath(f.dataDir)
  checkOwner(socket, process.getuid!())
  assert.throws(() => checkOwner(socket, process.getuid!() + 1), /belongs to user/)
  chmodSync(serveDir(f.dataDir), 0o755)
  const heard = new Heard()
  const connection = connect(f, heard)
  await connection.connect()
  assert.equal(connection.server, undefined)
  assert.match(heard.said.join(), /open to others/)
  connection.dispose()
})

test("by TCP the token is wanted", async () => {
  const f = withTwoTurns()
  fixtures.push(f)
  await f.serve("--listen", "127.0.0.1:0")
  const link = f.cairn("serve", "--login").trim().split("\n")[0]!
  const token = readFileSync(serveDir(f.dataDir) + "/token", "utf8").trim()
  const server = await Server.connect(tcpAddress(link, token))
  assert.equal((await (await server.backend(f.root)).sessions())[0]?.id, "s1")
  server.close()
  await assert.rejects(Server.connect(tcpAddress(link, "not the token of this server")), /token/)
})

test("a server that has forgotten a project is told of it again", async () => {
  const f = withTwoTurns()
  fixtures.push(f)
  await f.serve()
  const server = await Server.connect({ socketPath: socketPath(f.dataDir) })
  const b = await server.backend(f.root)
  const [project] = await server.json<{ id: string }[]>("GET", "/projects")
  await server.bytes("DELETE", `/projects/${project!.id}`)
  assert.equal((await b.sessions()).length, 1)
  server.close()
})
