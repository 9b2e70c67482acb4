import Testing

@testable import ManagedModel

@Suite struct GzipStreamTests {
  /// The last piece can be complete in zlib before it has been returned.
  @Test func truncatedFilesReturnAllInflatedBytes() {
    let count = (3 << 18) + 100
    let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
    // The checksum is missing.
    var pieces = [header + RawDeflate.deflate([UInt8](repeating: 0, count: count))]
    let stream = GzipStream { pieces.popLast() ?? [] }
    var inflated = 0
    let error = #expect(throws: GzipStream.Failure.self) {
      while true {
        let bytes = try stream.next()
        if bytes.isEmpty { break }
        inflated += bytes.count
      }
    }
    #expect(error == .truncated && inflated == count)
  }
}
