/// The byte order mark with which a text in UTF-8 can begin, and which isn't part of the text.
package enum ByteOrderMark {
  private static let bytes: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Returns the number of bytes of the mark at the start of a text: 3, or 0 if there's none.
  package static func length(in text: some Sequence<UInt8>) -> Int {
    text.starts(with: bytes) ? bytes.count : 0
  }
}
