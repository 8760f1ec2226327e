//! How the next token is chosen among those allowed.

use toktrie::{SimpleVob, TokenId};

/// How the next token is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sampling {
    /// The likeliest one: the same answer each time.
    Greedy,
    /// By chance, as likely as the model thinks.
    Random {
        /// Below 1 the likely ones are favoured, above 1 the unlikely.
        temperature: f32,
        /// Where chance begins: the same seed gives the same answer.
        seed: u64,
    },
}

/// Chooses tokens.
#[derive(Debug)]
pub(crate) struct Sampler {
    sampling: Sampling,
    chance: fastrand::Rng,
}

impl Sampler {
    /// Begins to choose.
    pub(crate) fn new(sampling: Sampling) -> Self {
        let seed = match sampling {
            Sampling::Greedy => 0,
            Sampling::Random { seed, .. } => seed,
        };
        Self { sampling, chance: fastrand::Rng::with_seed(seed) }
    }

    /// Chooses a token by its score; none if none is allowed.
    pub(crate) fn choose(
        &mut self,
        scores: &[f32],
        allowed: Option<&SimpleVob>,
    ) -> Option<TokenId> {
        let mut candidates: Vec<(TokenId, f32)> = (0..)
            .zip(scores)
            .filter(|(token, score)| {
                score.is_finite() && allowed.is_none_or(|set| set.is_allowed(*token))
            })
            .map(|(token, score)| (token, *score))
            .collect();
        let best = *candidates.iter().max_by(|left, right| left.1.total_cmp(&right.1))?;
        let Sampling::Random { temperature, .. } = self.sampling else { return Some(best.0) };
        if temperature <= 0.0 {
            return Some(best.0);
        }
        let mut sum = 0.0;
        for (_, score) in &mut candidates {
            sum += ((*score - best.1) / temperature).exp();
            *score = sum;
        }
        let point = self.chance.f32() * sum;
        let chosen = candidates.iter().find(|(_, reached)| point < *reached);
        Some(chosen.map_or(best.0, |(token, _)| *token))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowing(tokens: &[TokenId]) -> SimpleVob {
        let mut set = SimpleVob::alloc(4);
        for token in tokens {
            set.allow_token(*token);
        }
        set
    }

    #[test]
    fn greedy_takes_the_best_of_those_allowed() {
        let mut sampler = Sampler::new(Sampling::Greedy);
        assert_eq!(sampler.choose(&[1.0, 9.0, 3.0, 2.0], Some(&allowing(&[0, 2, 3]))), Some(2));
    }

    #[test]
    fn nothing_is_chosen_where_nothing_is_allowed() {
        let mut sampler = Sampler::new(Sampling::Greedy);
        assert_eq!(sampler.choose(&[1.0, 2.0], Some(&allowing(&[]))), None);
    }

    #[test]
    fn chance_follows_the_scores_and_the_seed() {
        let choose = |seed| {
            let mut sampler = Sampler::new(Sampling::Random { temperature: 1.0, seed });
            let mut counts = [0; 4];
            for _ in 0..1000 {
                // Twice as likely for each token.
                let scores = [0.0, 2f32.ln(), 4f32.ln(), 8f32.ln()];
                counts[sampler.choose(&scores, None).unwrap() as usize] += 1;
            }
            counts
        };
        let counts = choose(1);
        assert_eq!(counts, choose(1));
        assert!(counts.is_sorted(), "{counts:?}");
        assert!((400..650).contains(&counts[3]), "{counts:?}");
    }
}
