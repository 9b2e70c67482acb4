/// Formats of compressed files that aren't read, only known by their first bytes.
enum LogCompression: String, CaseIterable {
  case bzip2, xz, zip, zstd

  /// Bytes of the longest beginning of a format.
  static let longestMagic = 6

  /// The format that a file begins with; nil if it's none of these.
  static func of(_ bytes: [UInt8]) -> LogCompression? {
    allCases.first { bytes.starts(with: $0.magic) }
  }

  /// What writes the inflated file to standard output.
  var command: String {
    switch self {
    case .bzip2: "bunzip2 -c"
    case .xz: "xz -dc"
    case .zip: "unzip -p"
    case .zstd: "zstd -dc"
    }
  }

  private var magic: [UInt8] {
    switch self {
    case .bzip2: Array("BZh".utf8)
    case .xz: [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]
    case .zip: [0x50, 0x4B, 0x03, 0x04]
    case .zstd: [0x28, 0xB5, 0x2F, 0xFD]
    }
  }
}
