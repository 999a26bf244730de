import ControlProtocol
import ControlServer
import LinuxSystem
import NowPlaying
import PlaybackEngine
import StateKeeping

/// A listener's word on the present item.
enum ListenerOpinion {
    /// Stars, 0 to 5.
    case rating(Double)
    /// True: given; false: undone.
    case like(Bool), dislike(Bool), bookmark(Bool)
}

/// Feedback of listeners.
extension PlayerMethods {
    /// Keeps an opinion on the present item.
    func remember(
        _ opinion: ListenerOpinion, _ request: MethodRequest, _ answer: @escaping Answer
    ) {
        guard let item = player.currentItem else { return answer(failure(.noItem)) }
        guard let feedback else { return answer(.failure(PlayerRefusal.notRemembered(nil).error)) }
        feedback.change(item, by: request.client, edit(opinion)) { [self] result in
            switch result {
            case .success: answer(self.answer(for: CommandOutcome(state: player.state, isSuperseded: false)))
            case .failure(let failure): answer(.failure(PlayerRefusal.notRemembered(failure.message).error))
            }
        }
    }

    private func edit(_ opinion: ListenerOpinion) -> FeedbackKeeper.Edit {
        switch opinion {
        case .rating(let stars): return { $0.rating = stars }
        case .like(let isGiven):
            return { feedback in
                feedback.isLiked = isGiven
                if isGiven { feedback.isDisliked = false }
            }
        case .dislike(let isGiven):
            return { feedback in
                feedback.isDisliked = isGiven
                if isGiven { feedback.isLiked = false }
            }
        case .bookmark(let isGiven):
            let position = player.elapsed
            return { $0.bookmark = isGiven ? position : nil }
        }
    }
}
