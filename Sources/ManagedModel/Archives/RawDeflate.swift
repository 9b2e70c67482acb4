internal import CZlib

/// Raw DEFLATE streams: no header, no checksum, as a store keeps its model.
enum RawDeflate {
  private static let windowBits: Int32 = -15
  private static let chunk = 64 << 10

  /// Says why a stream cannot be inflated.
  enum Failure: Error {
    /// The bytes are no whole stream.
    case damaged
    /// The stream inflates to more bytes than allowed.
    case tooLarge
  }

  /// Inflates a stream.
  ///
  /// Stops as soon as the result is larger than the limit. Bytes after the stream are ignored.
  static func inflate(_ bytes: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
    let stream = makeStream()
    defer { stream.deallocate() }
    guard inflateInit2_(stream, windowBits, ZLIB_VERSION, streamSize) == Z_OK else {
      throw .damaged
    }
    defer { inflateEnd(stream) }
    let (output, status) = run(stream, on: bytes, limit: limit) { CZlib.inflate($0, Z_NO_FLUSH) }
    guard output.count <= limit else { throw .tooLarge }
    guard status == Z_STREAM_END else { throw .damaged }
    return output
  }

  /// Deflates bytes into a stream.
  static func deflate(_ bytes: [UInt8]) -> [UInt8] {
    let stream = makeStream()
    defer { stream.deallocate() }
    let begin = deflateInit2_(
      stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
      streamSize)
    precondition(begin == Z_OK, "zlib cannot begin a stream: it is out of memory.")
    defer { deflateEnd(stream) }
    let (output, end) = run(stream, on: bytes, limit: Int.max) { CZlib.deflate($0, Z_FINISH) }
    precondition(end == Z_STREAM_END, "zlib did not finish a stream.")
    return output
  }

  private static var streamSize: Int32 { Int32(MemoryLayout<z_stream>.size) }

  /// A stream at an address that stays, which zlib asks for.
  private static func makeStream() -> UnsafeMutablePointer<z_stream> {
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    return stream
  }

  /// Runs a step of zlib until the stream ends, fails, wants more input or passes the limit.
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
