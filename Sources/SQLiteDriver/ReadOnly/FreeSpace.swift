import Foundation

/// The space that a file system has for copies.
package enum FreeSpace {
  /// Returns the number of free bytes for a folder with a path; `nil` if it isn't known.
  package static func bytes(atPath path: String) -> UInt64? {
    var space = statvfs()
    return statvfs(path, &space) == 0 ? bytes(space) : nil
  }

  /// Returns the number of free bytes for an open folder; `nil` if it isn't known.
  package static func bytes(in folder: Int32) -> UInt64? {
    var space = statvfs()
    return fstatvfs(folder, &space) == 0 ? bytes(space) : nil
  }

  static func bytes(_ space: statvfs) -> UInt64? {
    // A file system in memory without a limit, such as ramfs, has no blocks.
    if space.f_blocks == 0 { return nil }
    let free = UInt64(space.f_bavail).multipliedReportingOverflow(by: UInt64(space.f_frsize))
    return free.overflow ? nil : free.partialValue
  }
}
