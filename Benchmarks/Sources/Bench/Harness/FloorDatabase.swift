import CFloor
import Foundation

/// The floor's connection to a file, with the same pragmas as the framework's connections.
///
/// One thread uses it at a time.
final class FloorDatabase: @unchecked Sendable {
  let handle: OpaquePointer

  init(url: URL, pragmas: [String]) throws {
    var texts: [UnsafePointer<CChar>?] = pragmas.map { UnsafePointer(strdup($0)) }
    defer { for text in texts { free(UnsafeMutablePointer(mutating: text)) } }
    guard let handle = cfloor_open(url.path, &texts, texts.count) else {
      throw BenchError("the floor can't open \(url.path)")
    }
    self.handle = handle
  }

  deinit {
    cfloor_close(handle)
  }

  /// Runs a statement and ignores its rows.
  func run(_ sql: String, _ binds: [Int64] = []) throws {
    guard cfloor_run(handle, sql, binds, Int32(binds.count)) == 0 else { throw error(sql) }
  }

  /// Checks the number of rows that a statement returned.
  func check(_ count: Int, is expected: Int, _ sql: String) throws {
    guard count >= 0 else { throw error(sql) }
    guard count == expected else {
      throw BenchError("the floor read \(count) rows, not \(expected): \(sql)")
    }
  }

  private func error(_ sql: String) -> BenchError {
    BenchError("\(cfloor_message(handle).map { String(cString: $0) } ?? ""): \(sql)")
  }
}
