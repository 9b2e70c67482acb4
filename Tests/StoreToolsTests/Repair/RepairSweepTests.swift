import OpenCoreData
import SQLiteDriver
import Testing
import WorkbenchFixtures
import WorkbenchText

@testable import ScenarioLanguage
@testable import StoreTools

@Suite("A repair recovers exactly the rows that corruption at any position leaves intact")
struct RepairSweepTests {
  enum Damage: CaseIterable {
    case zeros
    case random
    /// The content of another page.
    case swapped
  }

  @Test(arguments: RepairBed.fewStores, Damage.allCases)
  func eachPageOverwritten(path: String, damage: Damage) throws {
    let bed = try RepairBed(path)
    var generator = SeededGenerator(seed: 7, stream: "pages")
    let (first, step) = damage == .zeros ? (1, 2) : (2, 4)
    for page in stride(from: first, through: bed.pageCount, by: step) {
      let content: [UInt8] =
        switch damage {
        case .zeros: Array(repeating: 0, count: bed.pageSize)
        case .random: (0..<bed.pageSize).map { _ in UInt8.random(in: 0...255, using: &generator) }
        case .swapped: Array(bed.page(bed.intact.used[(page * 7) % bed.intact.used.count]))
        }
      try bed.repair(
        bed.replacing(page, with: content), without: [page], "page \(page) of \(path), \(damage)")
    }
  }

  @Test(arguments: RepairBed.fewStores)
  func fileTruncatedAfterEachPage(path: String) throws {
    let bed = try RepairBed(path)
    for count in stride(from: 1, to: bed.pageCount, by: max(1, bed.pageCount / 12)) {
      let bytes = Array(bed.bytes.prefix(count * bed.pageSize + count % 2 * 100))
      let corrupt = Set((count + 1)...bed.pageCount)
      do {
        try bed.repair(bytes, without: corrupt, "\(path), \(bytes.count) bytes")
      } catch let error as InvalidInputError {
        #expect("\(error)".contains("no data of a Core Data store"), "\(error)")
        // Nothing states the table of the first rows.
        #expect(count < bed.pageCount / 4)
      }
    }
  }

  /// Each byte of what describes the pages, and the last one of each later field.
  @Test func bytesOfTheHeaderOverwritten() throws {
    let bed = try RepairBed()
    for offset in 0..<100 where offset < 32 || offset % 4 == 3 {
      var bytes = bed.bytes
      // The encoding is one of three, and other fields have small values too.
      bytes[offset] = offset % 4 == 3 ? bytes[offset] ^ 3 : 0xFF
      let report = try bed.repair(bytes, "byte \(offset)")
      #expect(report.isComplete, "byte \(offset)")
    }
  }

  @Test func corruptFreeListRevivesNoDeletedRows() throws {
    let bed = try RepairBed()
    let trunk = Int(bed.bytes[32..<36].reduce(0) { $0 << 8 | UInt32($1) })
    #expect(trunk > 0)
    let overflow = try #require(bed.intact.locations["ZPARTY"]?[2]?.overflow.min())
    let leaf = try #require(bed.intact.locations["ZNOTE"]?[10]?.leaf)
    for first in [0, 0xFFFF_FFFF, overflow, leaf, 1] {
      var bytes = bed.bytes
      bytes.replaceSubrange(32..<36, with: RepairBed.number(first))
      try bed.repair(bytes, "the list begins with \(first)")
    }
    // The trunk refers to itself, lists a page of a table, and too many pages.
    let start = (trunk - 1) * bed.pageSize
    for (offset, value) in [(0, trunk), (8, leaf), (4, 0x7FFF_FFFF)] {
      var bytes = bed.bytes
      bytes.replaceSubrange((start + offset)..<(start + offset + 4), with: RepairBed.number(value))
      try bed.repair(bytes, "\(value) at \(offset) of the trunk")
    }
  }

  @Test func brokenOverflowChainLosesItsValueOnly() throws {
    let bed = try RepairBed()
    let location = try #require(bed.intact.locations["ZPARTY"]?[2])
    let other = try #require(bed.intact.locations["ZPARTY"]?[3]?.overflow.min())
    let chain = location.overflow.sorted()
    #expect(chain.count > 5)
    for target in [0, chain[0], chain[1], chain[3], other, location.leaf, 1, 0x7FFF_FFFF] {
      var bytes = bed.bytes
      let start = (chain[1] - 1) * bed.pageSize
      let next = Int(bytes[start..<(start + 4)].reduce(0) { $0 << 8 | UInt32($1) })
      guard target != next else { continue }
      for index in 0..<4 { bytes[start + index] = UInt8(target >> (24 - 8 * index) & 0xFF) }
      let report = try bed.repair(bytes, without: [chain[1]], "the chain continues with \(target)")
      #expect(report.entries.map(\.corruptValues).reduce(0, +) >= 1, "\(target)")
    }
  }

  @Test(arguments: [
    "TABLE ZNOTE", "ZHOURS FLOAT", "TABLE ZTAG", "ZNAME VARCHAR", "CREATE TABLE Z_",
  ])
  func corruptDefinitionIsReported(text: String) throws {
    let bed = try RepairBed()
    let pattern = Array(text.utf8)
    let offset = try #require(
      bed.bytes.indices.first { bed.bytes[$0...].starts(with: pattern) })
    let indices = [1, pattern.count / 2, pattern.count - 1]
    for (index, byte) in zip(indices, [UInt8(ascii: "Q"), UInt8(ascii: "("), 0]) {
      var bytes = bed.bytes
      bytes[offset + index] = byte
      try bed.repair(bytes, "byte \(index) of \(text) is \(byte)")
    }
  }

  @Test(arguments: 1...25)
  func randomBytesNeverTrap(seed: Int) throws {
    let bed = try RepairBed()
    var generator = SeededGenerator(seed: UInt64(seed), stream: "pages")
    var bytes = bed.bytes
    for _ in 0..<(1 + Int.random(in: 0..<60, using: &generator)) {
      let offset = Int.random(in: 0..<bytes.count, using: &generator)
      bytes[offset] =
        [0, 0xFF, UInt8.random(in: 0...255, using: &generator)][
          Int.random(in: 0..<3, using: &generator)]
    }
    if seed.isMultiple(of: 5) {
      bytes = Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &generator)))
    }
    do {
      let report = try bed.repair(bytes, "seed \(seed)", check: false)
      #expect(!RepairText.lines(report).isEmpty)
      #expect(try !RepairJSON.data(report).isEmpty)
    } catch let error as InvalidInputError {
      #expect("\(error)".contains("no data of a Core Data store"), "\(error)")
    } catch let error as NSError
      where error.code == NSPersistentStoreIncompatibleVersionHashError
    {
      // Neither the model nor its hashes can be read.
    }
  }
}
