/// Notes on which key path a step was reading while events happened.
///
/// Needed only where a step reaches one entity in several ways, so that an event's entity does not tell
/// on which; it costs two looks at the recorder for each value read.
final class ReadTrail {
  private let recorder: Recorder
  private let paths: [[StepContext.Path]]
  private(set) var routes: [StepContext.Route] = []

  /// - Parameter paths: for each key path of the step, the ways to the objects on it.
  init(recorder: Recorder, paths: [[StepContext.Path]]) {
    self.recorder = recorder
    self.paths = paths
  }

  /// Reads one key of an object.
  ///
  /// - Parameters:
  ///   - index: the key path's number among those of the step.
  ///   - depth: relationships passed before this key.
  func reading(_ index: Int, at depth: Int, _ body: () -> Any?) -> Any? {
    guard depth > 0, paths[index].indices.contains(depth - 1) else { return body() }
    let before = recorder.mark
    let value = body()
    let after = recorder.mark
    if after > before {
      routes.append(
        StepContext.Route(after: before, through: after, path: paths[index][depth - 1]))
    }
    return value
  }
}
