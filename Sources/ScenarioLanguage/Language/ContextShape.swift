/// What is known of a context before anything runs.
package struct ContextShape: Sendable, Equatable {
  /// The context that is there from the beginning, in which a step runs that names no other.
  package static let main = "main"
  /// The coordinator of the main context.
  package static let firstCoordinator = "first"

  /// Nil for a context over a coordinator.
  package var parent: String?
  /// The coordinator's name; contexts that name the same share it.
  package var coordinator: String
  package var queue: ContextQueue
  package var policy: MergePolicyName?
  package var mergesAutomatically: Bool?
  /// Seconds.
  package var staleness: Double?
  package var isUndoable: Bool?
  package var retainsObjects: Bool?

  package init(
    parent: String? = nil, coordinator: String = ContextShape.firstCoordinator,
    queue: ContextQueue = .background
  ) {
    self.parent = parent
    self.coordinator = coordinator
    self.queue = queue
  }

  /// The shape that a `context` step asks for.
  ///
  /// - Parameter known: what the context was; nil for a new one.
  package init(_ step: Step, known: ContextShape?, among contexts: [String: ContextShape]) {
    self = known ?? ContextShape()
    for option in step.options {
      switch option {
      case .parent(let name):
        parent = name
        coordinator = contexts[name]?.coordinator ?? coordinator
      case .queue(let queue): self.queue = queue
      case .coordinator(let name): coordinator = name
      case .policy(let policy): self.policy = policy
      case .merges(let flag): mergesAutomatically = flag
      case .staleness(let seconds): staleness = seconds
      case .undoable(let flag): isUndoable = flag
      case .retains(let flag): retainsObjects = flag
      default: break
      }
    }
  }
}
