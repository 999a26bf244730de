/// A listener's opinion on the present item.
enum ListenerOpinion {
    /// Stars, 0 to 5.
    case rating(Double)
    /// True: given; false: undone.
    case like(Bool), dislike(Bool), bookmark(Bool)
}
