import Foundation

/// Reads files with a size limit.
enum BoundedFile {
  /// Reads a regular file.
  ///
  /// A FIFO, a socket, or a device is rejected: it can block, or have no end.
  ///
  /// - Throws: An error if the file can't be read or is larger than the limit.
  static func read(_ url: URL, limit: Int) throws(ModelErrors) -> Data {
    let descriptor = open(url.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    var info = stat()
    guard descriptor >= 0, fstat(descriptor, &info) == 0 else {
      throw unreadable(url)
    }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    guard info.st_mode & S_IFMT == S_IFREG else {
      throw ModelErrors(
        ModelError(
          "The file isn't a regular file.", nextStep: "Specify a model file.",
          file: url.relativePath))
    }
    guard let data = try? file.read(upToCount: limit + 1) ?? Data() else { throw unreadable(url) }
    guard data.count <= limit else {
      throw ModelErrors(
        ModelError(
          "The file is larger than \(limit >> 20) MiB, too large for a model.",
          nextStep: "Specify a model file.", file: url.relativePath))
    }
    return data
  }

  private static func unreadable(_ url: URL) -> ModelErrors {
    ModelErrors(
      ModelError(
        "The file can't be read.", nextStep: "Check the name and the permissions.",
        file: url.relativePath))
  }
}
