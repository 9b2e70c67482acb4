internal import CZlib

/// Decompresses a gzip file incrementally.
///
/// Only one chunk of input and one chunk of output are in memory, regardless of the decompressed
/// size; the caller limits that size. Concatenated gzip files are decompressed as one, as by
/// `gzip`. Use a stream from one thread at a time.
package final class GzipStream {
  /// The reason why decompression can't continue.
  package enum Failure: Error, Sendable {
    /// The data isn't a gzip file, or its checksum is wrong.
    case corrupt
    /// The data ends in the middle of the file.
    case truncated
  }

  /// The first bytes of a gzip file.
  package static let magic: [UInt8] = [0x1F, 0x8B]
  private static let piece = 1 << 18

  private let source: () -> [UInt8]
  private let stream: UnsafeMutablePointer<z_stream>
  private var input: [UInt8] = []
  private var used = 0
  private var isBroken: Bool
  private var isAtEnd = false
  /// Whether the last chunk of output was full, so zlib may have more output for its current input.
  private var isFull = false

  /// Creates a stream.
  ///
  /// - Parameter source: Returns the next bytes of the file, or an empty array at its end.
  package init(_ source: @escaping () -> [UInt8]) {
    self.source = source
    stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    // A window of 15 bits; adding 16 makes zlib expect gzip's header and checksum.
    isBroken =
      inflateInit2_(stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) != Z_OK
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
  }

  /// Returns the next decompressed bytes, at most 256 KiB, or an empty array at the end.
  ///
  /// - Throws: `Failure`, after all bytes decompressed before the error have been returned.
  package func next() throws(Failure) -> [UInt8] {
    while !isAtEnd {
      guard !isBroken else { throw .corrupt }
      if used == input.count, !isFull {
        input = source()
        used = 0
        guard !input.isEmpty else { throw .truncated }
      }
      let (output, status) = step()
      isFull = output.count == GzipStream.piece
      switch status {
      case Z_STREAM_END: isAtEnd = !beginsAnother()
      case Z_OK, Z_BUF_ERROR: break
      default: isBroken = true
      }
      if !output.isEmpty { return output }
    }
    return []
  }

  private func step() -> (output: [UInt8], status: Int32) {
    var status = Z_OK
    let output = [UInt8](unsafeUninitializedCapacity: GzipStream.piece) { target, made in
      input.withUnsafeMutableBufferPointer { bytes in
        stream.pointee.next_in = bytes.baseAddress.map { $0 + used }
        stream.pointee.avail_in = UInt32(bytes.count - used)
        stream.pointee.next_out = target.baseAddress
        stream.pointee.avail_out = UInt32(target.count)
        status = inflate(stream, Z_NO_FLUSH)
        used = bytes.count - Int(stream.pointee.avail_in)
        made = target.count - Int(stream.pointee.avail_out)
      }
    }
    return (output, status)
  }

  /// Returns whether another gzip member follows the one that has ended.
  ///
  /// Other trailing data is ignored.
  private func beginsAnother() -> Bool {
    while input.count - used < GzipStream.magic.count {
      let more = source()
      guard !more.isEmpty else { return false }
      input = Array(input[used...]) + more
      used = 0
    }
    guard input[used...].starts(with: GzipStream.magic) else { return false }
    return inflateReset(stream) == Z_OK
  }
}

/// Raw DEFLATE streams, without header and checksum, as in a store's model cache.
enum RawDeflate {
  private static let windowBits: Int32 = -15
  private static let chunk = 64 << 10

  /// The reason why a stream can't be decompressed.
  enum Failure: Error {
    /// The bytes aren't a complete stream.
    case corrupt
    /// The decompressed data is larger than allowed.
    case tooLarge
  }

  /// Decompresses a stream.
  ///
  /// Stops as soon as the result is larger than the limit. Bytes after the stream are ignored.
  static func inflate(_ bytes: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
    let stream = makeStream()
    defer { stream.deallocate() }
    guard inflateInit2_(stream, windowBits, ZLIB_VERSION, streamSize) == Z_OK else {
      throw .corrupt
    }
    defer { inflateEnd(stream) }
    let (output, status) = run(stream, on: bytes, limit: limit) { CZlib.inflate($0, Z_NO_FLUSH) }
    guard output.count <= limit else { throw .tooLarge }
    guard status == Z_STREAM_END else { throw .corrupt }
    return output
  }

  /// Compresses bytes into a stream.
  static func deflate(_ bytes: [UInt8]) -> [UInt8] {
    let stream = makeStream()
    defer { stream.deallocate() }
    let begin = deflateInit2_(
      stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
      streamSize)
    guard begin == Z_OK else { fatalError("zlib can't begin a stream: there isn't enough memory.") }
    defer { deflateEnd(stream) }
    let (output, end) = run(stream, on: bytes, limit: Int.max) { CZlib.deflate($0, Z_FINISH) }
    guard end == Z_STREAM_END else { fatalError("zlib didn't finish a stream.") }
    return output
  }

  private static var streamSize: Int32 { Int32(MemoryLayout<z_stream>.size) }

  /// Creates a stream at a fixed address, as zlib requires.
  private static func makeStream() -> UnsafeMutablePointer<z_stream> {
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    return stream
  }

  /// Runs zlib until the stream ends, fails, needs more input, or exceeds the limit.
  private static func run(
    _ stream: UnsafeMutablePointer<z_stream>, on bytes: [UInt8], limit: Int,
    step: (UnsafeMutablePointer<z_stream>) -> Int32
  ) -> (output: [UInt8], status: Int32) {
    var input = bytes
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: chunk)
    let status = input.withUnsafeMutableBufferPointer { source in
      stream.pointee.next_in = source.baseAddress
      stream.pointee.avail_in = UInt32(clamping: source.count)
      var status = Z_OK
      repeat {
        let made = buffer.withUnsafeMutableBufferPointer { target in
          stream.pointee.next_out = target.baseAddress
          stream.pointee.avail_out = UInt32(chunk)
          status = step(stream)
          return chunk - Int(stream.pointee.avail_out)
        }
        output += buffer[..<made]
      } while status == Z_OK && output.count <= limit
      return status
    }
    return (output, status)
  }
}
