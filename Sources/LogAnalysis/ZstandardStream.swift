import Foundation

/// The bytes of a Zstandard file, decompressed one piece at a time with the system's library.
///
/// The library is loaded when the first such file is read, so that it isn't needed otherwise.
/// Memory is that of one piece in and one out, and of the file's window, which the library limits
/// to 128 MiB. Consecutive frames are read as one file. Use a stream on one thread at a time.
final class ZstandardStream {
  /// The reason that decompression ends early.
  enum Failure: Error {
    case corrupt
    /// The file ends in the middle of a frame.
    case truncated
    /// The file requires a window of more than 128 MiB, as `zstd --long=31` makes it.
    case windowTooLarge
  }

  /// The bytes that a Zstandard file begins with.
  static let magic: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD]
  private static let pieceSize = 1 << 18

  private let library: ZstandardLibrary
  private let source: () -> [UInt8]
  private let stream: OpaquePointer
  private var input: [UInt8] = []
  private var used = 0
  private var isInFrame = false
  private var isAtEnd = false

  /// Creates a stream.
  ///
  /// - Parameter source: Returns the next bytes of the file; an empty array at its end.
  /// - Returns: `nil` if the system doesn't have the library.
  init?(_ source: @escaping () -> [UInt8]) {
    guard let library = ZstandardLibrary.shared, let stream = library.create() else { return nil }
    self.library = library
    self.stream = stream
    self.source = source
  }

  deinit {
    _ = library.free(stream)
  }

  /// Returns the next decompressed bytes, at most 256 KiB, or an empty array at the end.
  ///
  /// - Throws: `Failure`, after all bytes before the error have been returned.
  func next() throws(Failure) -> [UInt8] {
    while !isAtEnd {
      if used == input.count {
        input = source()
        used = 0
        if input.isEmpty {
          isAtEnd = true
          if isInFrame { throw .truncated }
          break
        }
      }
      let output = try piece()
      if !output.isEmpty { return output }
    }
    return []
  }

  private func piece() throws(Failure) -> [UInt8] {
    var status = 0
    let output = [UInt8](unsafeUninitializedCapacity: ZstandardStream.pieceSize) { bytes, filled in
      input.withUnsafeMutableBytes { unread in
        var from = ZstandardLibrary.Buffer(
          bytes: unread.baseAddress, size: unread.count, position: used)
        var to = ZstandardLibrary.Buffer(
          bytes: UnsafeMutableRawPointer(bytes.baseAddress), size: bytes.count, position: 0)
        status = library.decompress(stream, &to, &from)
        used = from.position
        filled = to.position
      }
    }
    guard library.isError(status) == 0 else {
      isAtEnd = true
      let code = library.errorCode(status)
      throw code == ZstandardLibrary.windowTooLarge ? Failure.windowTooLarge : Failure.corrupt
    }
    // 0 after the last byte of a frame has been returned.
    isInFrame = status != 0
    return output
  }
}

/// The functions of libzstd that decompress.
private final class ZstandardLibrary: Sendable {
  /// `ZSTD_inBuffer` and `ZSTD_outBuffer`, which have the same layout.
  struct Buffer {
    var bytes: UnsafeMutableRawPointer?
    var size: Int
    var position: Int
  }

  /// The library, or `nil` if the system doesn't have it.
  static let shared = ZstandardLibrary()

  let create: @convention(c) () -> OpaquePointer?
  let free: @convention(c) (OpaquePointer) -> Int
  /// Takes the stream, an output buffer, and an input buffer.
  let decompress:
    @convention(c) (OpaquePointer, UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Int
  let isError: @convention(c) (Int) -> UInt32
  let errorCode: @convention(c) (Int) -> Int32

  /// `ZSTD_error_frameParameter_windowTooLarge`, which is stable.
  static let windowTooLarge: Int32 = 16

  private init?() {
    guard let library = dlopen("libzstd.so.1", RTLD_NOW),
      let create = dlsym(library, "ZSTD_createDStream"),
      let free = dlsym(library, "ZSTD_freeDStream"),
      let decompress = dlsym(library, "ZSTD_decompressStream"),
      let isError = dlsym(library, "ZSTD_isError"),
      let errorCode = dlsym(library, "ZSTD_getErrorCode")
    else { return nil }
    // A function's address has no type; these are the declarations in zstd.h.
    self.create = unsafeBitCast(create, to: (@convention(c) () -> OpaquePointer?).self)
    self.free = unsafeBitCast(free, to: (@convention(c) (OpaquePointer) -> Int).self)
    self.decompress = unsafeBitCast(
      decompress,
      to: (@convention(c) (OpaquePointer, UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Int)
        .self)
    self.isError = unsafeBitCast(isError, to: (@convention(c) (Int) -> UInt32).self)
    self.errorCode = unsafeBitCast(errorCode, to: (@convention(c) (Int) -> Int32).self)
  }
}
