// Both backends against a real cairn: the server through its socket and the program give the same
// answers, and take the same things back.
import assert from "node:assert/strict"
import { mkdirSync, realpathSync, writeFileSync } from "node:fs"
import { after, test } from "node:test"
import { type Backend, isKind, Problem, type Way } from "../../src/api.ts"
import { choicesOf } from "../../src/choices.ts"
import { hunkAt } from "../../src/hunks.ts"
import { socketPath } from "../../src/place.ts"
import { backendOf } from "../../src/program.ts"
import { Server } from "../../src/server.ts"
import { changesOf, promptOf, spanOf, turnsOf } from "../../src/turns.ts"
import { previewOf } from "../../src/words.ts"
import { cairn, Fixture, text, withTwoTurns } from "../fixture.ts"

const decoder = new TextDecoder()
const fixtures: Fixture[] = []
after(() => Promise.all(fixtures.map((f) => f.close())))

// both runs a test with each backend on a project of its own.
function both(name: string, make: () => Fixture, run: (f: Fixture, b: Backend) => Promise<void>): void {
  test(`${name}, by the server`, async () => {
    const f = make()
    fixtures.push(f)
    await f.serve()
    const server = await Server.connect({ socketPath: socketPath(f.dataDir) })
    const backend = await server.backend(f.root)
    assert.equal(backend.kind, "server")
    await run(f, backend)
    server.close()
  })
  test(`${name}, by the program`, async () => {
    const f = make()
    fixtures.push(f)
    const backend = await backendOf({ path: cairn, dataDir: f.dataDir }, f.root)
    assert.equal(backend.kind, "program")
    await run(f, backend)
  })
}

// does plans a way, carries it out and returns the result.
async function does(b: Backend, way: Way) {
  const plan = await b.plan(way)
  assert.ok(plan.planID && plan.operation === "")
  return b.carryOut(way, plan.planID)
}

both("turns with their files", withTwoTurns, async (f, b) => {
  assert.equal(b.root, f.root)
  const [session] = await b.sessions()
  assert.ok(session)
  assert.equal(session.title, "title of s1")
  const turns = turnsOf(session, await b.history(session.id))
  assert.deepEqual(turns.map(promptOf), ["make it better\nand faster", "and once more"])
  const changes = await Promise.all(turns.map((t) => changesOf(b, t)))
  assert.deepEqual(
    changes.map((list) => list.map((c) => `${c.status} ${c.path}`)),
    [["modified a.txt", "deleted gone.txt", "added new.txt"], ["modified a.txt"]],
  )
  const span = spanOf(turns[0]!)!
  assert.equal(decoder.decode(await b.file(span.from, "a.txt")), text())
  assert.equal(decoder.decode(await b.file(span.to, "a.txt")), text({ 1: "ONE", 10: "TEN" }))
  assert.equal(await b.file(span.from, "new.txt"), undefined)
  await assert.rejects(b.file("0123456789abcdef0123456789abcdef01234567", "a.txt"), (err) => isKind(err, "not-found"))
})

both("the history of a file", withTwoTurns, async (_, b) => {
  const page = await b.log("a.txt", 2)
  assert.deepEqual(
    page.checkpoints.map((c) => c.work?.prompt),
    ["and once more", "make it better …"],
  )
  const rest = await b.log("a.txt", 2, page.next)
  assert.deepEqual(
    rest.checkpoints.map((c) => c.message),
    ["first"],
  )
  assert.equal(rest.next, undefined)
  assert.deepEqual((await b.log("new.txt", 9)).checkpoints.length, 1)
  assert.equal((await b.standing()).newest?.id, (await b.log(undefined, 1)).checkpoints[0]?.id)
})

both("a turn goes and comes back", withTwoTurns, async (f, b) => {
  const done = f.files()
  const first = (await choicesOf(b, false))[0]!
  assert.equal(first.label, "and once more")
  const preview = previewOf(await b.plan(first.way))
  assert.deepEqual(preview, { changes: 1, detail: "change a.txt" })
  assert.deepEqual(f.files(), done, "a plan changes nothing")
  await does(b, first.way)
  assert.equal(f.read("a.txt"), text({ 1: "ONE", 10: "TEN" }))
  await does(b, { action: "undo-turn", session: "s1" })
  assert.deepEqual(f.files(), { "a.txt": text(), "gone.txt": "to be deleted\n" })
  for (const label of ["make it better", "and once more"]) {
    const choice = (await choicesOf(b, true)).find((c) => c.way.action === "redo-turn")!
    assert.equal(choice.label, label)
    await does(b, choice.way)
  }
  assert.deepEqual(f.files(), done)
  await assert.rejects(b.plan({ action: "redo-turn", session: "s1" }), Problem)
})

both("a hunk goes, and what came later stays", withTwoTurns, async (f, b) => {
  const turn = turnsOf((await b.sessions())[0]!, await b.history("s1"))[0]!
  const { from, to } = spanOf(turn)!
  const hunk = hunkAt(await b.hunks(from, to, "a.txt"), 9)!
  f.write("a.txt", text({ 1: "ONE", 2: "mine", 5: "FIVE", 10: "TEN" }))
  const result = await does(b, { action: "revert", from, to, hunks: [hunk.id], paths: ["a.txt"] })
  assert.deepEqual(result.restored, ["a.txt"])
  assert.equal(f.read("a.txt"), text({ 1: "ONE", 2: "mine", 5: "FIVE" }))
  await does(b, { action: "undo" })
  assert.equal(f.read("a.txt"), text({ 1: "ONE", 2: "mine", 5: "FIVE", 10: "TEN" }))
  await does(b, { action: "redo" })
  const since = await b.hunks(from, "", "a.txt")
  assert.deepEqual(
    since.map((h) => h.newStart > 0),
    [true, true],
  )
})

both("a file is restored", withTwoTurns, async (f, b) => {
  const first = (await b.log("a.txt", 9)).checkpoints.at(-1)!
  const result = await does(b, { action: "restore", hash: first.hash, paths: ["a.txt"] })
  assert.deepEqual(result.restored, ["a.txt"])
  assert.equal(f.read("a.txt"), text())
  assert.equal(f.read("new.txt"), "new\n")
  const [choice] = await choicesOf(b, false)
  assert.equal(choice?.label, "the restore of 1 file")
})

both("a conflict is listed and stays", withTwoTurns, async (f, b) => {
  f.write("a.txt", text({ 1: "ONE", 5: "mine", 10: "TEN" }))
  const way: Way = { action: "undo-turn", session: "s1" }
  const plan = await b.plan(way)
  assert.deepEqual(
    plan.conflicts.map((c) => c.path),
    ["a.txt"],
  )
  assert.match(previewOf(plan).detail, /^In conflict, stays as it is:\na.txt: /)
})

both("a plan that is out of date does nothing", withTwoTurns, async (f, b) => {
  const way: Way = { action: "undo-turn", session: "s1" }
  const plan = await b.plan(way)
  f.write("a.txt", text({ 1: "ONE", 2: "mine", 5: "FIVE", 10: "TEN" }))
  await assert.rejects(b.carryOut(way, plan.planID!), (err) => isKind(err, "moved"))
  assert.equal(f.read("a.txt"), text({ 1: "ONE", 2: "mine", 5: "FIVE", 10: "TEN" }))
})

both(
  "a root without a store",
  () => new Fixture(),
  async (f, b) => {
    assert.deepEqual(await b.standing().then((s) => s.newest), undefined)
    assert.deepEqual([await b.sessions(), (await b.log("a", 9)).checkpoints, await b.operations(9)], [[], [], []])
    f.write("a", "a\n")
    const { hash } = await b.track("by the editor")
    assert.equal((await b.standing()).newest?.hash, hash)
    assert.equal((await b.log("a", 9)).checkpoints[0]?.message, "by the editor")
  },
)

both("captures that are switched off", withTwoTurns, async (f, b) => {
  process.env.XDG_CONFIG_HOME = f.top + "/.config" // for the program, which this process starts
  mkdirSync(f.top + "/.config/cairn", { recursive: true })
  writeFileSync(f.top + "/.config/cairn/config.toml", "enabled = false\n")
  try {
    assert.match((await b.standing()).disabled ?? "", /enabled = false/)
  } finally {
    delete process.env.XDG_CONFIG_HOME
  }
})

test(
  "a name that is not UTF-8 goes through the server",
  { skip: process.platform !== "linux" && "SKIPPED: only Linux has such names" },
  async () => {
    const f = new Fixture()
    fixtures.push(f)
    const name = Buffer.from("bad\xff", "latin1")
    f.write(name, "old\n")
    f.cairn("track")
    f.write(name, "new\n")
    await f.serve()
    const server = await Server.connect({ socketPath: socketPath(f.dataDir) })
    const b = await server.backend(f.root)
    const [checkpoint] = (await b.log("bad\0ff", 9)).checkpoints
    assert.equal(decoder.decode(await b.file(checkpoint!.hash, "bad\0ff")), "old\n")
    const [hunk] = await b.hunks(checkpoint!.hash, "", "bad\0ff")
    await does(b, { action: "revert", from: checkpoint!.hash, to: "", hunks: [hunk!.id], paths: ["bad\0ff"] })
    assert.deepEqual(f.files(), { "bad\xff": "old\n" })
    server.close()
    const program = await backendOf({ path: cairn, dataDir: f.dataDir }, f.root)
    await assert.rejects(program.file(checkpoint!.hash, "bad\0ff"), /not UTF-8/)
  },
)

test("a directory below the root has the root's project", async () => {
  const f = withTwoTurns()
  fixtures.push(f)
  mkdirSync(f.root + "/sub")
  assert.equal((await backendOf({ path: cairn, dataDir: f.dataDir }, f.root + "/sub")).root, realpathSync(f.root))
})

test("a program that is not there is a problem of its own", async () => {
  await assert.rejects(backendOf({ path: "/no/such/cairn", dataDir: "" }, "/"), (err) => isKind(err, "no-program"))
})
