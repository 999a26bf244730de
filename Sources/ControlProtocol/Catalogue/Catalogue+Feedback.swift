import NowPlaying

extension Catalogue {
    /// Maximum items of one request for feedback.
    package static let feedbackItems = 1000

    /// Name of the notification of a change of feedback.
    package static let feedbackChanged = "feedback.changed"

    static let feedbackMethods: [Method] = [
        Method(
            name: .feedbackGet, kind: .feedback, role: .control, reach: .networkAndBroker(.control),
            parameters: [
                .optional(
                    "uris", .array(.uri, count: 1...feedbackItems), "at most \(feedbackItems) files or addresses"),
                .optional(
                    "ids", .array(.itemID, count: 1...feedbackItems),
                    "ids of at most \(feedbackItems) items of the queue"),
                session,
            ],
            oneOf: ["uris", "ids"],
            help:
                "Returns the saved feedback of any items. A uri names one item: no folder and no playlist.",
            result:
                "items in the order of the request, each with id (for ids), uri, identity, isLiked, isDisliked, rating, "
                + "bookmark, playCount, skipCount and lastPlayed. An item whose file cannot be read now has neither an "
                + "identity nor feedback.",
            example: #"{"uris": ["/music/a.flac"]}"#),
        Method(
            name: .feedbackSet, kind: .feedback, role: .control, reach: .networkAndBroker(.control),
            parameters: [
                .optional("uri", .uri, "file or address"),
                .optional("id", .itemID, "id of an item of the queue"),
                .optional("rating", .removable(.numberIn(0...5)), "stars"),
                .optional("like", .boolean, "true likes the item and undoes a dislike; false undoes a like"),
                .optional("dislike", .boolean, "true dislikes the item and undoes a like; false undoes a dislike"),
                .optional(
                    "bookmark", .removable(.seconds), "seconds of content time at which the item resumes"),
                session,
            ],
            anyOf: ["rating", "like", "dislike", "bookmark"], oneOf: ["uri", "id"],
            help:
                "Changes the feedback of any item of the queue, or of any file. The daemon keeps it for the content of the "
                + "file, wherever the file moves.",
            result: "the item, as feedback.get returns it", example: #"{"uri": "/music/a.flac", "rating": 4}"#),
        Method(
            name: .feedbackChanges, kind: .feedback, role: .control, reach: .networkAndBroker(.control),
            parameters: [
                .optional("since", .text, "next of an earlier answer or notification; default: from the beginning"),
                .optional(
                    "limit", .integer(1...Int64(feedbackItems)), "number of items; default: \(feedbackItems)"),
            ],
            help:
                "Lists the items whose feedback has changed, each once with its present feedback, the last change last. "
                + "A page also ends at 192 KiB.",
            result:
                "items as feedback.get returns them, their uri as at the last change, if known; next, for “since”; more: "
                + "true if further items follow; reset: true if “since” is of another database, and the list begins anew",
            example: "{}"),
        Method(
            name: .feedbackSubscribe, kind: .feedback, role: .control, reach: .network(.control), parameters: [],
            isRefusedInBatch: true,
            help:
                "Sends a notification feedback.changed at each change of any item's feedback from now on, beside those of "
                + "nowPlaying.subscribe. It carries the item without its uri, with “since” and “next”. A client whose "
                + "own cursor is not “since” calls feedback.changes.",
            result: "an empty object", example: "{}"),
        Method(
            name: .feedbackUnsubscribe, kind: .feedback, role: .control, reach: .network(.control), parameters: [],
            help: "Ends these notifications for this connection.", result: "an empty object", example: "{}"),
    ]
}
