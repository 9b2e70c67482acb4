import Foundation

/// Lists folders completely, or not at all.
package enum FolderNames {
  /// Returns the names in an open folder, in any order, without `.` and `..`, and closes it.
  ///
  /// - Parameter stream: What `opendir` or `fdopendir` returned.
  /// - Throws: The number of the error if the folder can't be listed to its end.
  package static func all(in stream: OpaquePointer) throws(POSIXError) -> [String] {
    defer { closedir(stream) }
    var names: [String] = []
    errno = 0
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
      errno = 0
    }
    let number = errno
    guard number == 0 else { throw POSIXError(POSIXErrorCode(rawValue: number) ?? .EIO) }
    return names
  }
}
