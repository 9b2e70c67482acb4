import OpenCoreData

// An in-memory store is sufficient for this example. A file shows that the data is saved.
let folder = FileManager.default.temporaryDirectory
  .appendingPathComponent("Library-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

let library = try LibraryStore(at: folder.appendingPathComponent("Library.sqlite"))
try library.fill()
for line in try library.catalog() { print(line) }
