import Foundation

/// What tells whether a file was touched: its identity, size and time of last writing.
///
/// The time has the file system's resolution, often some milliseconds: two writes within that look
/// like one when the size stays. `StoreFileInspection.isSettled` tells when that is over.
package struct FileStamp: Sendable, Hashable {
  package let device: UInt64
  package let inode: UInt64
  /// In bytes.
  package let size: Int64
  /// Of the last writing, in nanoseconds since 1970.
  package let modified: Int64

  /// The stamp of a regular file; nil when there is none of that name.
  ///
  /// - Parameter followsLinks: Whether a link stands for the file that it names.
  package init?(path: String, followsLinks: Bool = true) {
    var info = stat()
    let result = followsLinks ? stat(path, &info) : lstat(path, &info)
    guard result == 0, info.st_mode & S_IFMT == S_IFREG else { return nil }
    device = UInt64(info.st_dev)
    inode = UInt64(info.st_ino)
    size = Int64(info.st_size)
    #if canImport(Darwin)
      let time = info.st_mtimespec
    #else
      let time = info.st_mtim
    #endif
    modified = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }

  /// The permissions of a file; 0 if there's none.
  static func permissions(path: String) -> mode_t {
    var info = stat()
    return stat(path, &info) == 0 ? info.st_mode & 0o777 : 0
  }

  /// Whether something that isn't a regular file has that name: a link, a folder, a FIFO, a device.
  static func isSpecial(path: String) -> Bool {
    var info = stat()
    return lstat(path, &info) == 0 && info.st_mode & S_IFMT != S_IFREG
  }
}
