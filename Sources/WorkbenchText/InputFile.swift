package import Foundation
import ManagedModel
import SQLiteDriver

/// Reads input once, sequentially: a file, a pipe such as `<(…)`, or `-` for standard input.
package enum InputFile {
  /// The path of standard input.
  package static let standardInput = "-"

  /// Checks that a path can be read.
  ///
  /// - Throws: An `InvalidInputError` if it can't.
  package static func check(_ path: String) throws(InvalidInputError) {
    guard path != standardInput else { return }
    guard let mode = FileKind.mode(of: path, followingLinks: true),
      !FileKind.isRegular(mode), !FileKind.isFolder(mode)
    else { return try InvalidInputError.checkFile(path) }
    guard mode & S_IFMT != S_IFSOCK, access(path, R_OK) == 0 else {
      throw error(path, mode & S_IFMT == S_IFSOCK ? ENXIO : errno)
    }
    guard ![S_IFCHR, S_IFBLK].contains(mode & S_IFMT) || isTerminal(path) else {
      throw InvalidInputError(
        kind: .missing, message: "\(path) is a device, not a file or a pipe",
        nextStep: "use a file, a pipe, or `\(standardInput)` for standard input")
    }
  }

  /// Returns whether a device is a terminal, as `/dev/stdin` can be.
  ///
  /// Other devices may never reach the end of their input.
  private static func isTerminal(_ path: String) -> Bool {
    let file = Foundation.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard file >= 0 else { return false }
    defer { close(file) }
    return isatty(file) != 0
  }

  /// Reads input to its end.
  ///
  /// - Parameters:
  ///   - path: The path, or `-` for standard input.
  ///   - limit: The maximum length in bytes; longer input is rejected without reading all of it.
  /// - Throws: An `InvalidInputError` if the input can't be read or is too long.
  package static func read(_ path: String, limit: Int) throws(InvalidInputError) -> Data {
    let file = try open(path)
    defer { if file != STDIN_FILENO { close(file) } }
    var data = Data()
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = piece.withUnsafeMutableBytes { Foundation.read(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw error(path, errno) }
      guard count > 0 else { return data }
      data.append(contentsOf: piece[..<count])
      guard data.count <= limit else {
        throw InvalidInputError.tooLong(path, limit: limit)
      }
    }
  }

  /// Opens a file or pipe for reading.
  ///
  /// For standard input, this method returns descriptor 0, which the caller must not close.
  package static func open(_ path: String) throws(InvalidInputError) -> Int32 {
    guard path != standardInput else { return STDIN_FILENO }
    try check(path)
    let file = Foundation.open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw error(path, errno) }
    return file
  }

  /// Returns the names in a folder, in any order, without `.` and `..`.
  ///
  /// - Throws: An `InvalidInputError` if the folder can't be listed to its end.
  package static func names(in folder: String) throws(InvalidInputError) -> [String] {
    guard let stream = opendir(folder) else { throw error(folder, errno) }
    do {
      return try FolderNames.all(in: stream)
    } catch let problem {
      throw error(folder, problem.code.rawValue)
    }
  }

  /// Returns the name of the file for messages.
  package static func name(_ path: String) -> String {
    path == standardInput ? "standard input" : path
  }

  /// Returns the error for a file that couldn't be opened or read.
  package static func error(_ path: String, _ code: Int32) -> InvalidInputError {
    InvalidInputError(
      kind: .missing, message: "\(name(path)) can't be read: \(FileErrorText.words(code))",
      nextStep: "check the path and its permissions")
  }
}

extension InvalidInputError {
  /// Returns the error for input that's longer than a limit in bytes.
  package static func tooLong(_ path: String, limit: Int) -> InvalidInputError {
    InvalidInputError(
      kind: .unusable,
      message:
        "\(InputFile.name(path)) is too large; the limit is \(NumberText.grouped(limit)) bytes",
      nextStep: "check that it's the right file")
  }
}

extension URL {
  /// Returns the file at a path that's absolute or starts in this folder.
  ///
  /// If the folder's path is relative, that of the file is, too: messages contain paths as they
  /// were given.
  package func file(at path: String) -> URL {
    guard relativePath.hasPrefix("/") || path.hasPrefix("/") else {
      return appendingPathComponent(path)
    }
    return URL(fileURLWithPath: path, relativeTo: self).standardizedFileURL
  }
}

/// The kind of file at a path.
package enum FileKind {
  /// Returns the mode of a file, or `nil` if there's no file or it can't be accessed.
  package static func mode(of path: String, followingLinks: Bool) -> mode_t? {
    var status = stat()
    let result = followingLinks ? stat(path, &status) : lstat(path, &status)
    return result == 0 ? status.st_mode : nil
  }

  /// Returns whether there's a file, or it can't be determined, such as because of an I/O error.
  package static func exists(_ path: String, followingLinks: Bool) -> Bool {
    FileStamp.exists(path: path, followsLinks: followingLinks)
  }

  /// Returns whether a mode is that of a regular file.
  package static func isRegular(_ mode: mode_t) -> Bool { mode & S_IFMT == S_IFREG }
  static func isFolder(_ mode: mode_t) -> Bool { mode & S_IFMT == S_IFDIR }
  static func isLink(_ mode: mode_t) -> Bool { mode & S_IFMT == S_IFLNK }

  /// Returns a description of what isn't a regular file, such as `a folder` or `a device`.
  package static func words(_ mode: mode_t) -> String {
    switch mode & S_IFMT {
    case S_IFDIR: "a folder"
    case S_IFIFO: "a pipe"
    case S_IFSOCK: "a socket"
    case S_IFCHR, S_IFBLK: "a device"
    default: "not a regular file"
    }
  }
}

/// Distinguishes the files of models from stores.
package enum ModelFile {
  /// Returns whether a file is a store: it has neither the name nor the first bytes of a model.
  package static func isStore(_ url: URL) -> Bool {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder),
      !isFolder.boolValue, !["mom", "omo"].contains(url.pathExtension),
      url.lastPathComponent != "contents", !InvalidInputError.isSpecial(url.path),
      let file = try? FileHandle(forReadingFrom: url)
    else { return false }
    // Released, not closed: after a `close()` that fails, the release would close the number again,
    // which another thread can have by then.
    let head = (try? file.read(upToCount: 16)) ?? Data()
    return !head.starts(with: Data("bplist".utf8)) && !head.starts(with: Data("<".utf8))
  }
}
