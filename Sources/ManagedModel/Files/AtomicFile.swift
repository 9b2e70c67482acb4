internal import Foundation

/// Writes files so that readers see either the old or the new content.
///
/// Foundation's `write(to:options:)` isn't used: after a short write on Linux, it writes the first
/// bytes again, without an error.
package enum AtomicFile {
  /// Writes a file under another name, and renames it.
  ///
  /// - Parameters:
  ///   - data: The content.
  ///   - path: The path of the file; a link at the path is replaced.
  ///   - temporary: A path in the same folder, at which there's no file.
  ///   - permissions: The access permissions; `nil` for those of any new file.
  ///   - syncs: Whether the content is synced to disk before the file is renamed.
  /// - Returns: The `errno` of the operation that failed, in which case the file isn't changed;
  ///   `nil` if it was written.
  package static func write(
    _ data: Data, to path: String, through temporary: String, permissions: UInt32? = nil,
    syncs: Bool
  ) -> Int32? {
    // Nobody can read a private file's content before it has its permissions.
    let file = open(
      temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions == nil ? 0o666 : 0o600)
    guard file >= 0 else { return errno }
    var problem = append(data, to: file)
    if let permissions, problem == nil, fchmod(file, permissions) != 0 { problem = errno }
    // A file system that can't sync a file does it itself.
    if syncs, problem == nil, fsync(file) != 0, errno != EINVAL { problem = errno }
    if close(file) != 0, problem == nil { problem = errno }
    if problem == nil, rename(temporary, path) != 0 { problem = errno }
    if problem != nil { unlink(temporary) }
    return problem
  }

  /// Writes all bytes to a descriptor.
  ///
  /// - Returns: The `errno` of a failed write; `nil` if all bytes were written.
  package static func append(_ bytes: some ContiguousBytes, to file: Int32) -> Int32? {
    bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let part = UnsafeRawBufferPointer(rebasing: rest)
        let count = Foundation.write(file, part.baseAddress, part.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return count < 0 ? errno : ENOSPC }
        rest = rest.dropFirst(count)
      }
      return nil
    }
  }
}
