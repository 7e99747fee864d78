package config

import (
	"slices"
	"strings"
	"testing"
)

// What a key of a trainer sets is a key here, and each of its values one that the key can have.
func TestTrainersNameKeys(t *testing.T) {
	for preset, trainer := range trainers().Trainers {
		for _, k := range trainer.Keys {
			if (k.Left != "") == (k.Sets != nil || k.Is != nil) {
				t.Errorf("%s %s: want what it sets, or why it is left out", preset, k.Key)
			}
			all := []map[string]any{k.With}
			for _, sets := range k.Is {
				all = append(all, sets)
			}
			for _, sets := range all {
				for path, value := range sets {
					if key, known := LookupKey(path); !known || key.Kind == WordValue && !slices.Contains(key.Words, value.(string)) {
						t.Errorf("%s %s: %s %v is no value of a key", preset, k.Key, path, value)
					}
				}
			}
			for _, path := range k.Sets {
				if key, _ := LookupKey(path); !key.Numeric() {
					t.Errorf("%s %s: %s is no numeric key", preset, k.Key, path)
				}
			}
		}
		for _, m := range trainer.Made {
			if keyIndex(m.Sets) < 0 || m.Of == nil {
				t.Errorf("%s: %+v", preset, m)
			}
		}
	}
}

// A command line of verl and a file of TRL become files that this program reads: mini-batches and
// epochs make blocks, staleness an older block, and what is left out has a reason.
func TestTranslate(t *testing.T) {
	const mini = "python -m verl.trainer.main_ppo data.train_batch_size=1024 low=0.2 \\\n" +
		"actor_rollout_ref.actor.ppo_mini_batch_size=256 actor_rollout_ref.actor.ppo_epochs=2 \\\n" +
		"actor_rollout_ref.actor.clip_ratio_low=${low} +actor_rollout_ref.actor.use_kl_loss=False " +
		"actor_rollout_ref.actor.kl_loss_coef=0.1 'trainer.total_training_steps=10' critic.ppo_epochs=7"
	for _, c := range []struct{ text, trainer, set, left, unknown string }{
		{mini, "verl", "grpo.kl.coefficient=0 lag.interval=8 run.steps=80 grpo.importance.clip_low=0.2",
			"kl_loss_coef 0.1: no effect without actor.use_kl_loss", "critic.ppo_epochs"},
		{"async_training: {trigger_parameter_sync_step: 4, staleness_threshold: 1, partial_rollout: true}\n" +
			"algorithm: {adv_estimator: rloo}\n", "verl",
			"lag.interval=4 lag.behind=1 grpo.advantage.baseline=leave-one-out", "one policy", ""},
		{"--num_generations 16 --per_device_train_batch_size=8 --num_processes 4 --bf16 --num_iterations 4 " +
			"--gradient_accumulation_steps 2 --steps_per_generation 2 --learning_rate 1e-6 --loss_type other", "trl",
			"grpo.group_size=16 grpo.groups_per_step=4 lag.interval=4 lag.samples=reused", "logits", "bf16"},
		{"beta: null\nnum_generations: 4\nmax_staleness: 8\nsync_ref_model: true\nref_model_sync_steps: 64\n", "trl",
			"grpo.group_size=4 lag.kind=random lag.ages.to=8 policy.reference_update.interval=64", "beta null: not set", ""},
		{"gradient_accumulation_steps: 4\nloss_type: cispo\nepsilon_high: 5\ndelta: 4\nwarmup_steps: 0.1\n", "trl",
			"grpo.groups_per_step=4 grpo.importance.mode=truncated grpo.importance.cap=5", "warmup_steps 0.1: this value", "delta"},
		{"args = GRPOConfig(\n  num_generations = 4, # of one prompt\n  # beta=0.5,\n  loss_type=\"sapo\", sapo_temperature_pos=2)\n", "trl",
			"grpo.group_size=4 grpo.groups_per_step=2 grpo.kl.coefficient=0 grpo.importance.tau=2", "", "args"},
		{"NPROC_PER_NODE=8 swift rlhf --rlhf_type grpo --num_generations 4 --sync_ref_model --ref_model_sync_steps 9", "trl",
			"grpo.kl.coefficient=0.04 optimizer.beta2=0.95 grpo.groups_per_step=2 policy.reference_update.interval=9", "", ""},
		{"rl: grpo\ntrl: {num_generations: 2}\nmicro_batch_size: 4\nlr_scheduler: constant\n", "trl",
			"grpo.groups_per_step=2 optimizer.schedule.kind=constant", "", ""},
		{"N=${N:-16} actor.ppo_mini_batch_size=128 rollout.n=$N actor.clip_ratio=0.1 actor.policy_loss.loss_mode=gspo " +
			"algorithm.adv_estimator=rloo algorithm.norm_adv_by_std_in_grpo=True actor.optim.lr_warmup_steps=10", "verl",
			"grpo.group_size=16 lag.interval=8 grpo.kl.coefficient=0 grpo.importance.mode=clip grpo.importance.clip_high=0.2 " +
				"grpo.advantage.scale=none optimizer.schedule.warmup=80", "clip_ratio 0.1: no effect", "algorithm.norm_adv_by_std_in_grpo"},
		{"n_samples_per_prompt=4 rollout.n=$n_samples_per_prompt algorithm.use_kl_in_reward=True algorithm.kl_ctrl.kl_coef=0.01 " +
			"actor.kl_loss_type=low_var_kl actor.clip_ratio_low=10", "verl",
			"grpo.kl.in=reward grpo.kl.gradient=exact grpo.kl.coefficient=0.01 grpo.importance.clip_low=0.999999", "", ""},
		{"--generation_batch_size 4 --num_generations 4 --gradient_accumulation_steps 4 --per_device_train_batch_size 4", "trl",
			"lag.interval=1 grpo.groups_per_step=4", "", ""},
		{"rollout.n=8 data.train_batch_size=$((4*64))", "verl", "lag.interval=2", "this value is not modelled", ""},
	} {
		got, err := Translate("f", []byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		spec, err := ToPredict.Load("f", []byte(got.File))
		if err != nil || got.Trainer != c.trainer {
			t.Errorf("%s: %s, %v", c.text, got.Trainer, err)
			continue
		}
		for want := range strings.FieldsSeq(c.set) {
			path, value, _ := strings.Cut(want, "=")
			if key, _ := LookupKey(path); Format(key.Get(&spec.Base)) != value {
				t.Errorf("%s: %s is %s, want %s\n%s", c.text, path, Format(key.Get(&spec.Base)), value, got.File)
			}
		}
		if !strings.Contains(strings.Join(got.Left, "\n"), c.left) || strings.Join(got.Unknown, " ") != c.unknown {
			t.Errorf("%s: left out %q, unknown %q", c.text, got.Left, got.Unknown)
		}
	}
	for _, bad := range []string{"", "a=a", "num_generations: 1", "name: x\noptimizer: {learning_rate: 1}\n", "\x00",
		"policy: {max_grad_norm: 1}\ngrpo: {num_generations_per_prompt: 16}\n"} {
		if _, err := Translate("f", []byte(bad)); err == nil {
			t.Errorf("%q is a trainer's configuration", bad)
		}
	}
}
