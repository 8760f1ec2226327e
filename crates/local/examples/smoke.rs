use airtight_local::*;
use std::time::Instant;
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let t = Instant::now();
    let mut w = Weights::open(path.as_ref()).unwrap();
    let tok = Tokenizer::of(w.header()).unwrap();
    println!("tokenizer {:?}", t.elapsed());
    let mut m = Llama::load(&mut w, std::env::args().nth(2).map_or(2, |s| s.parse().unwrap())).unwrap();
    println!("load {:?}", t.elapsed());
    let text = "<user>\nThe capital of France is Paris, 12345 and\n\n  it's nice."; 
    println!("{:?}", tok.encode(text));
    let mut p = vec![1]; p.extend(tok.encode("system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face")); p.push(2); p.extend(tok.encode("\n"));
    p.push(1); p.extend(tok.encode("user\nWhat is the capital of France? Explain in three sentences.")); p.push(2); p.extend(tok.encode("\n")); p.push(1); p.extend(tok.encode("assistant\n"));
    let t = Instant::now();
    m.evaluate(&p).unwrap();
    let e = t.elapsed().as_secs_f64();
    println!("prompt {} tokens {:.1}/s", p.len(), p.len() as f64 / e);
    let t = Instant::now();
    let mut out = vec![];
    for _ in 0..80 {
        let s = m.scores(None).unwrap();
        let b = s.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).unwrap().0 as u32;
        if b == tok.end() { break; }
        out.push(b);
        m.evaluate(&[b]).unwrap();
    }
    println!("decode {} {:.1}/s", out.len(), out.len() as f64 / t.elapsed().as_secs_f64());
    let bytes: Vec<u8> = out.iter().flat_map(|t| tok.bytes(*t).to_vec()).collect();
    println!("{}", String::from_utf8_lossy(&bytes));
}
