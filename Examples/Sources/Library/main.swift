import OpenCoreData

// A store in memory would do as well; a file shows that what was saved is there.
let folder = FileManager.default.temporaryDirectory
  .appendingPathComponent("Library-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }

let library = try LibraryStore(at: folder.appendingPathComponent("Library.sqlite"))
try library.fill()
for line in try library.catalog() { print(line) }
