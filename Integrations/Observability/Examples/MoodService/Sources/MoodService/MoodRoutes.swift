public import Hummingbird
import OpenCoreData

extension MoodStore {
  /// Returns the routes of the service: `GET /moods`, with `prefetch=true` to prefetch countries,
  /// and `POST /moods`.
  ///
  /// Each request has a span, which is the parent of the spans of its context.
  public func router() -> Router<BasicRequestContext> {
    let router = Router()
    router.add(middleware: TracingMiddleware())
    router.get("moods") { request, _ in
      try await moods(prefetching: request.uri.queryParameters["prefetch"] == "true")
    }
    router.post("moods") { request, context in
      let entry = try await request.decode(as: Entry.self, context: context)
      do {
        try await add(entry)
      } catch let error as NSError where error.isInvalid {
        throw HTTPError(.unprocessableContent, message: "The mood isn't valid.")
      }
      return HTTPResponse.Status.created
    }
    return router
  }
}

extension MoodStore.Entry: ResponseEncodable {}

extension NSError {
  /// Whether a save was rejected because of the values of its objects.
  fileprivate var isInvalid: Bool {
    domain == NSCocoaErrorDomain && (1550...1680).contains(code)
  }
}
