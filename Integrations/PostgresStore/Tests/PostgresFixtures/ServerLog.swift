package import Foundation

/// What the server has logged of the connections of one application name, which log each statement.
///
/// The server writes an entry before it answers, so what a program has finished is in the log.
package struct ServerLog {
  /// An exchange with the server.
  package enum Exchange: Hashable {
    /// A statement is prepared.
    case prepare(String)
    /// A prepared statement is executed.
    case execute(String)
    /// Statements without parameters are run.
    case script(String)
  }

  private let url: URL
  private let application: String
  private var position: UInt64 = 0

  /// Begins at the end of the log.
  package init(_ url: URL, application: String) throws {
    self.url = url
    self.application = application
    let file = try FileHandle(forReadingFrom: url)
    defer { try? file.close() }
    position = try file.seekToEnd()
  }

  /// Returns the URI of a database with an application name, and with a log of each statement.
  package static func uri(_ uri: String, application: String) -> String {
    let separator = uri.contains("?") ? "&" : "?"
    return uri + separator + "application_name=\(application)"
      + "&options=-c%20log_min_duration_statement%3D0"
  }

  /// Returns the exchanges since the last call, in order: each is one round trip.
  package mutating func take() throws -> [Exchange] {
    let file = try FileHandle(forReadingFrom: url)
    defer { try? file.close() }
    try file.seek(toOffset: position)
    let data = try file.readToEnd() ?? Data()
    position += UInt64(data.count)
    let prefix = application + " LOG:  duration: "
    return String(decoding: data, as: UTF8.self).split(separator: "\n").compactMap { line in
      guard line.hasPrefix(prefix), let end = line.range(of: " ms  ") else { return nil }
      let entry = line[end.upperBound...]
      guard let colon = entry.firstIndex(of: ":") else { return nil }
      let sql = String(entry[colon...].dropFirst(2))
      switch entry.split(separator: " ").first {
      case "parse": return .prepare(sql)
      case "execute": return .execute(sql)
      case "statement:": return .script(sql)
      default: return nil
      }
    }
  }
}

extension ServerLog.Exchange {
  /// The statement that is run; nil for a preparation.
  package var statement: String? {
    switch self {
    case .prepare: nil
    case .execute(let sql), .script(let sql): sql
    }
  }
}
