import Foundation

/// The visible state of a folder: names, bytes, owners, modes, and modification times.
struct FolderImage: Equatable {
  struct File: Equatable {
    var bytes: Data?
    var owner: uid_t
    var mode: mode_t
    var modified: [Int]
  }

  var files: [String: File] = [:]

  init(_ path: String) throws {
    for name in try FileManager.default.subpathsOfDirectory(atPath: path) + ["."] {
      var info = stat()
      guard lstat(path + "/" + name, &info) == 0 else { continue }
      let isFile = info.st_mode & S_IFMT == S_IFREG
      files[name] = File(
        bytes: isFile ? try Data(contentsOf: URL(fileURLWithPath: path + "/" + name)) : nil,
        owner: info.st_uid, mode: info.st_mode,
        modified: [info.st_mtim.tv_sec, info.st_mtim.tv_nsec])
    }
  }
}
