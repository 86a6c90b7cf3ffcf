// Builds dist/extension.js, and with --tests every file of test/.
import { readdirSync, rmSync } from "node:fs"
import { build } from "esbuild"

const common = { bundle: true, platform: "node", target: "node20", format: "cjs", logLevel: "warning" }
rmSync("dist", { recursive: true, force: true })
await build({ ...common, entryPoints: ["src/extension.ts"], outfile: "dist/extension.js", external: ["vscode"], legalComments: "none" })
if (process.argv.includes("--tests")) {
  const entryPoints = ["unit", "editor"].flatMap((dir) =>
    readdirSync(`test/${dir}`)
      .filter((f) => f.endsWith(".test.ts"))
      .map((f) => `test/${dir}/${f}`),
  )
  await build({
    ...common,
    entryPoints,
    outdir: "dist/test",
    outbase: "test",
    external: ["vscode", "playwright-core"],
    sourcemap: "inline",
  })
}
