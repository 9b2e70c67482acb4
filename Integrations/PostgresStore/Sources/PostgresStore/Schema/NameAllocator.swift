import OpenCoreData
import PostgresDriver

/// Makes identifiers of a model's names, which may be long and may contain anything.
///
/// A name that the server can keep is its own identifier. Others are shortened, with a digest; if
/// two have the same identifier, the second gets a number. Names that begin with `z_`, the store's
/// own, begin with `_z_` instead. The same names in the same order always have the same
/// identifiers.
struct NameAllocator {
  private var used: Set<[UInt8]>

  /// The names of the server's own columns, which a table can't have.
  private static let systemColumns = [
    "tableoid", "xmin", "cmin", "xmax", "cmax", "ctid", "oid",
  ]
  private static let digestLength = 16
  private static let longestNumber = 8

  /// Creates an allocator for the columns of one table, or for the tables of a schema.
  init() {
    used = Set(Self.systemColumns.map { Array($0.utf8) })
  }

  /// Returns a new identifier for a name.
  mutating func identifier(_ name: String) -> String {
    var base = name.isEmpty ? "_" : name.replacing("\u{0}", with: "\u{FFFD}")
    if base.hasPrefix("z_") { base = "_" + base }
    if base.utf8.count > QuotedIdentifier.longest {
      let digest = Self.digest(base)
      base = Self.shortened(base, by: Self.digestLength + 1) + "_" + digest
    }
    var candidate = base
    var number = 1
    while !used.insert(Array(candidate.utf8)).inserted {
      number += 1
      candidate = Self.shortened(base, by: Self.longestNumber) + "_\(number)"
    }
    return candidate
  }

  /// Returns the longest prefix of whole characters that leaves a number of bytes free.
  private static func shortened(_ name: String, by free: Int) -> String {
    var prefix = name
    while prefix.utf8.count > QuotedIdentifier.longest - free { prefix.removeLast() }
    return prefix
  }

  /// Returns the FNV-1a digest of a name, which is always the same.
  private static func digest(_ name: String) -> String {
    let prime: UInt64 = 0x100_0000_01B3
    let digest = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* prime }
    let text = String(digest, radix: 16)
    return String(repeating: "0", count: digestLength - text.utf8.count) + text
  }
}
