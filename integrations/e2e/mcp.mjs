// An MCP client that is not the one cairn is written with: it starts cairn mcp, goes
// through its tools and resources, and prints what it has seen as JSON.
//
//   node mcp.mjs CAIRN DIRECTORY
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"

const [cairn, cwd] = process.argv.slice(2)
const transport = new StdioClientTransport({ command: cairn, args: ["mcp"], cwd, env: process.env, stderr: "inherit" })
const client = new Client({ name: "independent", version: "1" })
await client.connect(transport)

const seen = { server: client.getServerVersion()?.name, steps: [] }
const call = async (name, args = {}) => {
  const answer = await client.callTool({ name, arguments: args })
  seen.steps.push({ name, error: answer.isError ?? false, text: answer.content[0]?.text })
  return answer.structuredContent
}

const { tools } = await client.listTools()
seen.tools = tools.map((t) => t.name).sort()
seen.destructive = tools.filter((t) => !t.annotations.readOnlyHint && t.annotations.destructiveHint).map((t) => t.name).sort()

const tracked = await call("track", { message: "from node" })
rmSync(join(cwd, "gone.txt"))
writeFileSync(join(cwd, "added.txt"), "new\n")
seen.diff = (await call("diff")).files.map((f) => f.status + " " + f.file)
const preview = await call("preview", { action: "restore", hash: tracked.hash })
seen.untouched = readdirSync(cwd).includes("added.txt")
seen.restored = await call("restore", { hash: tracked.hash, planID: preview.planID })
seen.undone = await call("undo")
seen.redone = await call("redo")
await call("restore", { hash: "no such thing" })
await call("restore", { hash: "@", paths: ["../outside"] })

const { resources } = await client.listResources()
seen.resources = resources.length
const { resourceTemplates } = await client.listResourceTemplates()
seen.templates = resourceTemplates.map((t) => t.uriTemplate).sort()
const read = async (uri) => (await client.readResource({ uri })).contents[0]
const checkpoint = JSON.parse((await read(resources[0].uri)).text)
seen.same = true
for (const file of checkpoint.files) {
  const content = await read(file.uri)
  const bytes = content.blob !== undefined ? Buffer.from(content.blob, "base64") : Buffer.from(content.text)
  if (file.mode !== "120000") seen.same &&= bytes.equals(readFileSync(join(cwd, file.path)))
}
seen.files = checkpoint.files.length
seen.missing = await read("cairn://file/@/nothing").then(() => "read", (e) => e.code)
await client.close()
console.log(JSON.stringify(seen))
