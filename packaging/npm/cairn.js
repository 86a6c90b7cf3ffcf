#!/usr/bin/env node
// Starts the cairn of this system, which is in a package of its own.
"use strict";
const { spawn } = require("node:child_process");

const name = `PACKAGE-${process.platform}-${process.arch}`;
const suffix = process.platform === "win32" ? ".exe" : "";
let program;
try {
  program = require.resolve(`${name}/bin/cairn${suffix}`);
} catch {
  console.error(`cairn: the package ${name} is not installed: install PACKAGE without --omit=optional, or there is no cairn for this system`);
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends its signals to both processes; the program decides what they mean.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`cairn: ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (status, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
    return;
  }
  process.exit(status);
});
