import OpenCoreData

// Uses a file so that the data is really saved; an in-memory store would also work.
let folder = FileManager.default.temporaryDirectory
  .appendingPathComponent("Library-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

let library = try LibraryStore(at: folder.appendingPathComponent("Library.sqlite"))
try library.fill()
for line in try library.catalog() { print(line) }
