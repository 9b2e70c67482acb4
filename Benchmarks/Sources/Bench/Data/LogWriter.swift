import Foundation

/// Writes a Core Data SQL log for measuring how fast logs are read.
///
/// The same parameters produce the same bytes.
struct LogWriter {
  /// The level of SQLDebug: 1 writes SQL and times, 3 also bound values and objects.
  let level: Int
  /// The number of different statements.
  let statements: Int

  private static let entities = ["Mood", "Country", "Continent", "Person", "Photo", "Tag"]

  /// Writes a log with a number of requests, and returns the number of its bytes.
  func write(requests: Int, to url: URL) throws -> Int {
    try Data().write(to: url)
    let file = try FileHandle(forWritingTo: url)
    defer { try? file.close() }
    var random = SplitMix(seed: 7)
    var text = ""
    var bytes = 0
    for request in 0..<requests {
      append(request, &random, to: &text)
      if text.utf8.count > 1 << 20 || request == requests - 1 {
        bytes += text.utf8.count
        try file.write(contentsOf: Data(text.utf8))
        text = ""
      }
    }
    return bytes
  }

  private func append(_ request: Int, _ random: inout SplitMix, to text: inout String) {
    let number = Int(random.next() % UInt64(statements))
    let entity = LogWriter.entities[number % LogWriter.entities.count]
    let milliseconds = request / 2
    let clock =
      "\(two(9 + milliseconds / 3_600_000 % 12)):\(two(milliseconds / 60_000 % 60)):"
      + "\(two(milliseconds / 1_000 % 60)).\(String(1_000 + milliseconds % 1_000).dropFirst())"
    let prefix = "2026-11-25 \(clock) Moody[73416:\(2_971_038 + request / 16 % 3)] CoreData: "
    let isFault = number % 3 == 0
    let rows = isFault ? 1 : Int(random.next() % 20)
    let sql = LogWriter.sql(number, entity, isFault: isFault)
    let key = Int(random.next() % 100_000)
    text += "\(prefix)sql: \(sql)\n"
    if level >= 2 { text += "\(prefix)details: SQLite bind[0] = \(key)\n" }
    text += "\(prefix)annotation: sql connection fetch time: 0.00\(two(key % 100))s\n"
    if level >= 3, !isFault { append(sql, entity, rows, key, prefix, to: &text) }
    text +=
      "\(prefix)annotation: total fetch execution time: 0.01\(two(key % 100))s for \(rows) rows.\n"
    if isFault {
      text +=
        "\(prefix)annotation: fault fulfilled from database for : 0x\(String(key, radix: 16)) "
        + "\(LogWriter.uri(entity, key))\n"
    }
  }

  /// Writes the objects that a fetch returned.
  private func append(
    _ sql: String, _ entity: String, _ rows: Int, _ key: Int, _ prefix: String,
    to text: inout String
  ) {
    text +=
      "\(prefix)annotation: fetch using NSSQLiteStatement <0x\(String(key, radix: 16))> on entity "
      + "'\(entity)' with sql text '\(sql) ' returned \(rows) rows with values: (\n"
    for row in 0..<rows {
      let address = "0x\(String(key + row, radix: 16))"
      text +=
        "    \"<\(entity): \(address)> (entity: \(entity); id: \(address) "
        + "\(LogWriter.uri(entity, key + row)) ; data: <fault>)\"\(row + 1 < rows ? "," : "")\n"
    }
    text += ")\n"
  }

  private static func sql(_ number: Int, _ entity: String, isFault: Bool) -> String {
    let table = "Z\(entity.uppercased())"
    let columns =
      "SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZCREATED, t0.ZNAME, t0.ZRATING, t0.ZLATITUDE, "
      + "t0.ZLONGITUDE, t0.ZA\(number) FROM \(table) t0 WHERE "
    return isFault
      ? "\(columns) t0.Z_PK = ?  LIMIT 1"
      : "\(columns) (t0.ZRATING > ? AND  t0.ZA\(number) IS NOT NULL) ORDER BY t0.ZCREATED DESC"
  }

  private static func uri(_ entity: String, _ key: Int) -> String {
    "<x-coredata://0783522F-1851-4BC7-AE0D-AB4C83489E8B/\(entity)/p\(key)>"
  }

  private func two(_ number: Int) -> String {
    number < 10 ? "0\(number)" : "\(number)"
  }
}
