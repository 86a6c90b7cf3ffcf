// Packs the extension: cairn-VERSION.vsix, or with --timeline cairn-VERSION-timeline.vsix, which
// declares the proposed interface of the Timeline and so cannot be published. A .vsix is a zip file
// with a manifest. The same files give the same bytes: their order and their time are fixed.
import { readFileSync, writeFileSync } from "node:fs"
import { deflateRawSync } from "node:zlib"

const manifest = JSON.parse(readFileSync("package.json", "utf8"))
const timeline = process.argv.includes("--timeline")
if (timeline) manifest.enabledApiProposals = ["timeline"]
for (const key of ["scripts", "devDependencies", "private"]) delete manifest[key]

const escaped = (text) => String(text).replace(/[<>&"]/g, (c) => `&#${c.charCodeAt(0)};`)
const property = (id, value) => `<Property Id="Microsoft.VisualStudio.${id}" Value="${escaped(value)}"/>`

const vsixmanifest = `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
<Metadata>
<Identity Language="en-US" Id="${escaped(manifest.name)}" Version="${escaped(manifest.version)}" Publisher="${escaped(manifest.publisher)}"/>
<DisplayName>${escaped(manifest.displayName)}</DisplayName>
<Description xml:space="preserve">${escaped(manifest.description)}</Description>
<Tags>${escaped(manifest.keywords.join(","))}</Tags>
<Categories>${escaped(manifest.categories.join(","))}</Categories>
<GalleryFlags>Public</GalleryFlags>
<Properties>
${property("Code.Engine", manifest.engines.vscode)}
${property("Code.ExtensionKind", manifest.extensionKind.join(","))}
</Properties>
<License>extension/LICENSE.txt</License>
</Metadata>
<Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
<Dependencies/>
<Assets>
<Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
<Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
<Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
</Assets>
</PackageManifest>
`

const types = {
  vsixmanifest: "text/xml",
  json: "application/json",
  js: "application/javascript",
  md: "text/markdown",
  svg: "image/svg+xml",
  txt: "text/plain",
}
const contentTypes = `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">${Object.entries(types)
  .map(([extension, type]) => `<Default Extension=".${extension}" ContentType="${type}"/>`)
  .join("")}</Types>
`

const files = {
  "[Content_Types].xml": Buffer.from(contentTypes),
  "extension.vsixmanifest": Buffer.from(vsixmanifest),
  "extension/package.json": Buffer.from(JSON.stringify(manifest, null, 2) + "\n"),
  "extension/README.md": readFileSync("README.md"),
  "extension/LICENSE.txt": readFileSync("../../LICENSE"),
  "extension/media/cairn.svg": readFileSync("media/cairn.svg"),
  "extension/dist/extension.js": readFileSync("dist/extension.js"),
}

function crc32(data) {
  let crc = ~0
  for (const byte of data) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

// zip writes the parts of a zip file without extensions. 33 is the first day that it can name.
function zip(entries) {
  const parts = []
  const directory = []
  let offset = 0
  for (const [name, data] of Object.entries(entries)) {
    const packed = deflateRawSync(data, { level: 9 })
    const shared = Buffer.alloc(26)
    shared.writeUInt16LE(20, 0) // version that is needed
    shared.writeUInt16LE(8, 4) // deflate
    shared.writeUInt16LE(33, 8) // date
    shared.writeUInt32LE(crc32(data), 10)
    shared.writeUInt32LE(packed.length, 14)
    shared.writeUInt32LE(data.length, 18)
    shared.writeUInt16LE(Buffer.byteLength(name), 22)
    const central = Buffer.alloc(14) // comment, disk and attributes are 0
    central.writeUInt32LE(offset, 10)
    const local = [Buffer.from("PK\x03\x04"), shared, Buffer.from(name), packed]
    directory.push(Buffer.from("PK\x01\x02"), Buffer.from([20, 0]), shared, central, Buffer.from(name))
    parts.push(...local)
    offset += local.reduce((n, part) => n + part.length, 0)
  }
  const central = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write("PK\x05\x06", "latin1")
  end.writeUInt16LE(Object.keys(entries).length, 8)
  end.writeUInt16LE(Object.keys(entries).length, 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, central, end])
}

const name = `cairn-${manifest.version}${timeline ? "-timeline" : ""}.vsix`
writeFileSync(name, zip(files))
console.log(`packed ${name}`)
