import Profiling

/// A fetch in words in the JSON file; its property names are the file's keys.
struct JSONFetch: Codable {
  struct Option: Codable {
    var word: String
    var values: [String]
  }

  var entity: String
  var options: [Option]
  var name: String?

  init(_ fetch: FetchText) {
    entity = fetch.entity
    options = fetch.options.map { Option(word: $0.word, values: $0.values) }
    name = fetch.name
  }

  /// What was written.
  var fetch: FetchText {
    FetchText(
      entity: entity, options: options.map { FetchText.Option($0.word, $0.values) }, name: name)
  }
}
