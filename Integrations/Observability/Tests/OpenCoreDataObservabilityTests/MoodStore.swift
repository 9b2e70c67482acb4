import CoreDataCosts
import InMemoryLogging
import InMemoryTracing
import Logging
import MetricsTestKit
import OpenCoreData
import OpenCoreDataObservability
import Tracing

/// A cold store of moods and countries in a temporary folder, and what its instrumentation records.
final class MoodStore: Sendable {
  let container: NSPersistentContainer
  let tracer = InMemoryTracer()
  let metrics = TestMetrics()
  let log = InMemoryLogHandler()
  private let folder: URL
  private let observation: CoreDataObservation

  /// Creates a store with moods, assigned to countries in turn.
  init(
    moods: Int, countries: Int, _ configure: (inout InstrumentationOptions) -> Void = { _ in }
  ) throws {
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("MoodStore-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let url = folder.appendingPathComponent("private.sqlite")
    let model = Self.model()
    try Self.fill(try Self.open(url, model), moods: moods, countries: countries)
    container = try Self.open(url, model)
    var options = InstrumentationOptions()
    options.tracer = tracer
    options.metrics = metrics
    // Nothing is slow by chance.
    options.slowDuration = .seconds(3_600)
    configure(&options)
    var logger = Logger(label: "coredata") { [log] _ in log }
    logger.logLevel = .trace
    observation = container.instrument(logger: logger, options: options)
  }

  deinit {
    observation.cancel()
    try? FileManager.default.removeItem(at: folder)
  }

  /// The names that paths and values have in this store, which nothing may contain.
  var secrets: [String] { [folder.path, "private", "melancholy"] }

  /// Runs a body with a new context, on its queue.
  func perform<R>(_ body: (NSManagedObjectContext) throws -> R) rethrows -> R {
    let context = container.newBackgroundContext()
    return try context.performAndWait { try body(context) }
  }

  /// Fetches all moods and reads their countries.
  func readCountries(_ context: NSManagedObjectContext, prefetching: Bool = false) throws {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Mood")
    if prefetching { request.relationshipKeyPathsForPrefetching = ["country"] }
    for mood in try context.fetch(request) {
      _ = (mood.value(forKey: "country") as? NSManagedObject)?.value(forKey: "name")
    }
  }

  private static func open(
    _ url: URL, _ model: NSManagedObjectModel
  ) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Moods", managedObjectModel: model)
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
    var failure: (any Error)?
    container.loadPersistentStores { failure = $1 }
    if let failure { throw failure }
    return container
  }

  private static func fill(
    _ container: NSPersistentContainer, moods: Int, countries: Int
  ) throws {
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let homes = (0..<countries).map { number in
        let country = NSEntityDescription.insertNewObject(forEntityName: "Country", into: context)
        country.setValue("country \(number)", forKey: "name")
        return country
      }
      for number in 0..<moods {
        let mood = NSEntityDescription.insertNewObject(forEntityName: "Mood", into: context)
        mood.setValue("melancholy \(number)", forKey: "text")
        mood.setValue(homes[number % countries], forKey: "country")
      }
      if context.hasChanges { try context.save() }
    }
  }

  private static func model() -> NSManagedObjectModel {
    func text(_ name: String) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType) = (name, .stringAttributeType)
      attribute.isOptional = false
      return attribute
    }
    let (country, mood) = (NSEntityDescription(), NSEntityDescription())
    let (moods, home) = (NSRelationshipDescription(), NSRelationshipDescription())
    (moods.name, home.name) = ("moods", "country")
    (moods.destinationEntity, home.destinationEntity) = (mood, country)
    (moods.inverseRelationship, home.inverseRelationship) = (home, moods)
    home.maxCount = 1
    (country.name, mood.name) = ("Country", "Mood")
    country.properties = [text("name"), moods]
    country.uniquenessConstraints = [["name"]]
    mood.properties = [text("text"), home]
    let model = NSManagedObjectModel()
    model.entities = [country, mood]
    return model
  }
}

/// A finished span and its children, in the order in which they began.
struct SpanTree {
  let span: FinishedInMemorySpan
  let children: [SpanTree]

  /// Returns the trees of spans whose parent isn't among them.
  static func trees(of spans: [FinishedInMemorySpan]) -> [SpanTree] {
    let ids = Set(spans.map(\.spanID))
    return spans.filter { !ids.contains($0.parentSpanID ?? "") }.map { tree($0, spans) }
      .sorted(by: isEarlier)
  }

  /// The name, and in brackets the children.
  var outline: String {
    children.isEmpty
      ? span.operationName
      : "\(span.operationName) [\(children.map(\.outline).joined(separator: ", "))]"
  }

  private static func tree(_ span: FinishedInMemorySpan, _ all: [FinishedInMemorySpan]) -> SpanTree
  {
    let children = all.filter { $0.parentSpanID == span.spanID }.map { tree($0, all) }
    return SpanTree(span: span, children: children.sorted(by: isEarlier))
  }

  private static func isEarlier(_ one: SpanTree, _ other: SpanTree) -> Bool {
    one.span.startInstant.nanosecondsSinceEpoch < other.span.startInstant.nanosecondsSinceEpoch
  }
}

extension FinishedInMemorySpan {
  /// The attributes, as text.
  var texts: [String: String] {
    var texts: [String: String] = [:]
    attributes.forEach { name, value in
      switch value {
      case .string(let text): texts[name] = text
      case .int64(let number): texts[name] = "\(number)"
      case .int32(let number): texts[name] = "\(number)"
      default: texts[name] = "\(value)"
      }
    }
    return texts
  }
}
