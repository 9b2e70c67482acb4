public import MoodySync

// What client and server send each other, as JSON.

/// `POST /moods`: moods to store.
public struct UploadRequest: Codable, Sendable {
  /// The identifier of the user.
  public var user: String
  /// The moods.
  public var moods: [RemoteMood]

  /// Creates a request.
  public init(user: String, moods: [RemoteMood]) {
    self.user = user
    self.moods = moods
  }
}

/// The answer to an upload.
public struct UploadResponse: Codable, Sendable {
  /// The moods that the server has.
  public var moods: [RemoteMood]
  /// The identifiers of the moods that it will never accept.
  public var rejected: [RemoteRecordID]

  /// Creates an answer.
  public init(moods: [RemoteMood] = [], rejected: [RemoteRecordID] = []) {
    self.moods = moods
    self.rejected = rejected
  }
}

/// `POST /removals`: moods to remove, and its answer: the moods that the server no longer has.
public struct Removals: Codable, Sendable {
  /// The identifiers of the moods.
  public var ids: [RemoteRecordID]

  /// Creates a request or an answer.
  public init(ids: [RemoteRecordID]) {
    self.ids = ids
  }
}

/// `GET /moods`: the latest moods.
public struct LatestResponse: Codable, Sendable {
  /// The moods, the latest first.
  public var moods: [RemoteMood]

  /// Creates an answer.
  public init(moods: [RemoteMood]) {
    self.moods = moods
  }
}

/// `GET /changes?after=TOKEN`: what has changed after a token.
public struct ChangesResponse: Codable, Sendable {
  /// The last state of a changed mood.
  public struct Change: Codable, Sendable {
    /// The identifier of the mood.
    public var id: RemoteRecordID
    /// The mood, or `nil` if it was removed.
    public var mood: RemoteMood?

    /// Creates a change.
    public init(id: RemoteRecordID, mood: RemoteMood?) {
      self.id = id
      self.mood = mood
    }
  }

  /// The changes in the order in which they occurred.
  public var changes: [Change]
  /// The token of the last change, or `nil` if there were never any.
  public var token: String?
  /// Whether there are no changes after the token.
  public var isComplete: Bool

  /// Creates an answer.
  public init(changes: [Change], token: String?, isComplete: Bool) {
    self.changes = changes
    self.token = token
    self.isComplete = isComplete
  }
}

/// `GET /token?after=TOKEN&wait=SECONDS`: the token of the last change, once it's a later one or the
/// time is over.
public struct TokenResponse: Codable, Sendable {
  /// The token, or `nil` if there were never any changes.
  public var token: String?

  /// Creates an answer.
  public init(token: String?) {
    self.token = token
  }
}

/// The limits of a request, which keep the server's memory bounded.
public enum RequestLimits {
  /// The maximum number of moods in a request.
  public static let moods = 500
  /// The maximum number of bytes of a request's body.
  public static let bytes = 1_000_000
  /// The maximum number of seconds that a request for a token waits.
  public static let wait = 25.0
}
