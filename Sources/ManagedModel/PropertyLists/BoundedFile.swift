import Foundation

/// Reads files with a size limit, and lists folders.
enum BoundedFile {
  /// Reads a regular file.
  ///
  /// A FIFO, a socket, or a device is rejected: it can block, or have no end.
  ///
  /// - Throws: An error if the file can't be read or is larger than the limit.
  static func read(_ url: URL, limit: Int) throws(ModelErrors) -> Data {
    let descriptor = open(url.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw unreadable(url, errno) }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var info = stat()
    guard fstat(descriptor, &info) == 0 else { throw unreadable(url, errno) }
    guard info.st_mode & S_IFMT == S_IFREG else {
      throw ModelErrors(
        ModelError(
          "The file isn't a regular file.", nextStep: "Specify a model file.",
          file: url.relativePath))
    }
    guard let data = try? file.read(upToCount: limit + 1) ?? Data() else {
      throw unreadable(url, EIO)
    }
    guard data.count <= limit else {
      throw ModelErrors(
        ModelError(
          "The file is larger than \(limit >> 20) MiB, too large for a model.",
          nextStep: "Specify a model file.", file: url.relativePath))
    }
    return data
  }

  /// Returns whether there's a folder at a URL, or `nil` if there's nothing.
  ///
  /// - Throws: An error if that can't be determined, such as because of an I/O error.
  static func isFolder(_ url: URL) throws(ModelErrors) -> Bool? {
    var info = stat()
    if stat(url.path, &info) == 0 { return info.st_mode & S_IFMT == S_IFDIR }
    let number = errno
    guard isMissing(number) || [EACCES, ELOOP, ENAMETOOLONG].contains(number) else {
      throw unreadable(url, number)
    }
    return nil
  }

  /// Returns the names in a folder, in any order.
  ///
  /// - Throws: An error if the folder can't be listed to its end.
  static func names(in folder: URL) throws(ModelErrors) -> [String] {
    guard let stream = opendir(folder.path) else { throw unreadable(folder, errno) }
    do {
      return try FolderNames.all(in: stream)
    } catch {
      throw unreadable(folder, error.code.rawValue)
    }
  }

  private static func isMissing(_ number: Int32) -> Bool { number == ENOENT || number == ENOTDIR }

  /// Returns the error for a file or folder that can't be opened, examined, or read.
  private static func unreadable(_ url: URL, _ number: Int32) -> ModelErrors {
    var error = ModelError(
      "The file can't be read.", nextStep: "Check the name and the permissions.",
      file: url.relativePath)
    error.isUnreadable = !isMissing(number)
    return ModelErrors(error)
  }
}
